-- The hosts of a bucket's known URLs.
-- Reads: ready_page.
-- Grain: one row per host.
SELECT DISTINCT host FROM ready_page ORDER BY host
