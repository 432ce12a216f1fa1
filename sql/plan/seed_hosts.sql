-- The hosts of all seeds.
-- Reads: seed_files.
-- Grain: one row per host.
SELECT DISTINCT host FROM seed_files ORDER BY host
