-- How many arriving URLs are new, how many a rule stops, and how many of those that are known a rule keeps out of plans.
-- Reads: judged, held.
-- Grain: one row.
SELECT
    count(*) FILTER (rule IS NULL) AS new_urls,
    count(*) FILTER (rule IS NOT NULL) AS rejected_urls,
    (SELECT coalesce(sum(held), 0)::BIGINT FROM held) AS held_urls
FROM judged
