-- The URLs that a bucket has learnt of since its checkpoint. What was observed and is not here was planned, so known.
-- Reads: tail_url, tail_observation (rows from the checkpoint's epoch on).
-- Grain: one row per URL.
SELECT url_key FROM tail_url
UNION
SELECT url_key FROM tail_observation WHERE discovered IS NOT NULL
