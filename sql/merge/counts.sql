-- How many arriving URLs are new, and how many a rule stops.
-- Reads: judged.
-- Grain: one row.
SELECT
    count(*) FILTER (rule IS NULL) AS new_urls,
    count(*) FILTER (rule IS NOT NULL) AS rejected_urls
FROM judged
