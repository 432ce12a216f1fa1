-- How the crawl stands: how much of what is known was fetched, and how old the copies of the live pages are.
-- Reads: total.
-- Grain: one row. Ages are nearest ranks, in whole minutes up to a day and in whole hours beyond.
WITH known AS (
    SELECT
        coalesce(sum(urls), 0)::BIGINT AS known_urls,
        count(DISTINCT host_key) AS hosts,
        coalesce(sum(urls) FILTER (is_fetched), 0)::BIGINT AS fetched,
        coalesce(sum(urls) FILTER (outcome IS NULL), 0)::BIGINT AS never_asked
    FROM total
    WHERE is_host
),
aged AS (
    SELECT age, urls, sum(urls) OVER (ORDER BY age) AS up_to, sum(urls) OVER () AS live
    FROM total
    WHERE NOT is_host AND age IS NOT NULL
)
SELECT
    known.known_urls,
    known.hosts,
    known.fetched,
    known.never_asked,
    coalesce(sum(aged.urls), 0)::BIGINT AS live,
    coalesce(sum(aged.urls) FILTER (aged.age <= 1440), 0)::BIGINT AS fresh_day,
    coalesce(sum(aged.urls) FILTER (aged.age <= 7 * 1440), 0)::BIGINT AS fresh_week,
    round(min(aged.age) FILTER (2 * aged.up_to >= aged.live) / 1440, 4) AS median_age_days,
    round(min(aged.age) FILTER (10 * aged.up_to >= 9 * aged.live) / 1440, 4) AS p90_age_days
FROM known
LEFT JOIN aged ON true
GROUP BY ALL
