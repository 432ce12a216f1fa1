-- What each page is worth if all are fetched in turn: its age.
-- Reads: replayed_known.
-- Grain: one row per URL.
SELECT url_key, days AS value FROM replayed_known
