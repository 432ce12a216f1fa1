-- The hosts among a bucket's candidates.
-- Reads: candidate.
-- Grain: one row per host.
SELECT DISTINCT host FROM candidate ORDER BY host
