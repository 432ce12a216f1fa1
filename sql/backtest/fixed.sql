-- What each page is worth if all are fetched every so many days: its age, once that is reached; a tenth of a day is
-- forgiven, so that a cycle that begins a little earlier than the one before does not lose a day.
-- Reads: replayed_known.
-- Params: every_days.
-- Grain: one row per URL that is due.
SELECT url_key, days AS value FROM replayed_known WHERE days >= $every_days::DOUBLE - 1e-1
