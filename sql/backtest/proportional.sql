-- What each page is worth if pages are fetched in proportion to how often they are believed to change.
-- Reads: replayed_known.
-- Grain: one row per URL.
SELECT url_key, mean_rate(belief) * days AS value FROM replayed_known
