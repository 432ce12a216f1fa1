-- How the crawl stands: how much of what is known was fetched, and how old the copies of the live pages are.
-- Reads: page.
-- Params: now, the instant of publishing.
-- Grain: one row.
WITH aged AS (
    SELECT
        host_key,
        outcome,
        fetches,
        duplicate_of,
        (epoch($now::TIMESTAMPTZ) - epoch(fetched_at)) / 86400 AS age_days,
        coalesce(outcome IN ('ok', 'not_modified'), false) AS live
    FROM page
)
SELECT
    count(*) AS known_urls,
    count(DISTINCT host_key) AS hosts,
    count(*) FILTER (fetches > 0) AS fetched,
    count(*) FILTER (outcome IS NULL) AS never_asked,
    count(*) FILTER (live) AS live,
    count(*) FILTER (live AND age_days <= 1) AS fresh_day,
    count(*) FILTER (live AND age_days <= 7) AS fresh_week,
    count(*) FILTER (duplicate_of IS NOT NULL) AS copies,
    round(quantile_cont(age_days, 5e-1) FILTER (live), 3) AS median_age_days,
    round(quantile_cont(age_days, 9e-1) FILTER (live), 3) AS p90_age_days
FROM aged
