-- Coverage and freshness of the largest hosts, and what came of asking them.
-- Reads: largest, standing, base_page, tail_url, tail_observation, asked_host, held, host_budget.
-- Params: now, the instant of publishing.
-- Grain: one row per host, those with most known URLs first. Ages are nearest ranks, see publish/crawl.sql.
WITH aged AS (
    SELECT
        host_key,
        CASE WHEN outcome IN ('ok', 'not_modified') THEN age_minutes(epoch_us($now::TIMESTAMPTZ), epoch_us(fetched_at)) END
        AS age,
        count(*) AS urls
    FROM standing
    WHERE host_key IN (SELECT host_key FROM largest)
    GROUP BY host_key, age
),
ranked AS (
    SELECT *, sum(CASE WHEN age IS NOT NULL THEN urls END) OVER (PARTITION BY host_key ORDER BY age) AS up_to FROM aged
),
quantiles AS (
    SELECT
        ranked.host_key,
        round(min(age) FILTER (age IS NOT NULL AND 2 * up_to >= live) / 1440, 4) AS median_age_days,
        round(min(age) FILTER (age IS NOT NULL AND 10 * up_to >= 9 * live) / 1440, 4) AS p90_age_days
    FROM ranked
    JOIN largest USING (host_key)
    GROUP BY ranked.host_key
),
named AS (
    SELECT host_key, any_value(host) AS host, any_value(bucket) AS bucket
    FROM (
        SELECT host_key, host, bucket FROM base_page
        UNION ALL
        SELECT host_key, host, bucket FROM tail_url
        UNION ALL
        SELECT host_key, host, bucket FROM tail_observation
    )
    WHERE host_key IN (SELECT host_key FROM largest)
    GROUP BY host_key
)
SELECT
    named.host,
    named.bucket,
    l.known_urls,
    l.fetched,
    l.never_asked,
    l.live,
    l.fresh_day,
    l.denied,
    l.failing,
    q.median_age_days,
    q.p90_age_days,
    l.last_fetched_at,
    round(a.delay_seconds, 3) AS delay_seconds,
    round(a.response_p50_seconds, 3) AS response_p50_seconds,
    round(a.response_p99_seconds, 3) AS response_p99_seconds,
    a.requests,
    a.new_share,
    a.lane,
    held.reason AS held_because,
    b.urls AS budget_urls,
    b.because AS budget_because
FROM largest AS l
JOIN quantiles AS q USING (host_key)
JOIN named USING (host_key)
LEFT JOIN asked_host AS a USING (host_key)
LEFT JOIN held ON held.host = named.host
LEFT JOIN host_budget AS b ON b.host = named.host
ORDER BY l.known_urls DESC, named.host
