-- How many URLs a bucket has found and fetched in a cycle so far.
-- Reads: cycle_observation.
-- Grain: one row.
SELECT count(*) AS urls FROM cycle_observation WHERE discovered IS NOT NULL
