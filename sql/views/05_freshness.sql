-- How old our copies of the live pages are, at the newest observation of all.
-- Reads: page, observation.
-- Grain: one row per host.
CREATE VIEW freshness AS
WITH clock AS (
    SELECT max(ended_at) AS now FROM observation
)
SELECT
    page.host,
    count(*) AS live_urls,
    round(quantile_cont((epoch(clock.now) - epoch(page.fetched_at)) / 86400, 5e-1), 3) AS median_age_days,
    round(quantile_cont((epoch(clock.now) - epoch(page.fetched_at)) / 86400, 9e-1), 3) AS p90_age_days,
    round(max((epoch(clock.now) - epoch(page.fetched_at)) / 86400), 3) AS max_age_days,
    sum(page.fetches)::BIGINT AS fetches,
    sum(page.changes)::BIGINT AS changes,
    max(page.changed_at) AS last_change_seen_at
FROM page
CROSS JOIN clock
WHERE page.outcome IN ('ok', 'not_modified')
GROUP BY page.host
ORDER BY page.host
