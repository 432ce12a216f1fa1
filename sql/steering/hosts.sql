-- The hosts of a bucket's known URLs.
-- Reads: state_page.
-- Grain: one row per host.
SELECT DISTINCT host FROM state_page ORDER BY host
