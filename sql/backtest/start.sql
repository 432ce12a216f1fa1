-- The copies that a replay begins with: what the lake had then, or the first that it ever made, and what it had learnt.
-- Reads: replayed_url, replayed_period, learnt.
-- Params: since; interval_days, that of Nutch's rule for a page that it knows nothing of.
-- Grain: one row per URL.
WITH copied AS (
    SELECT
        u.url_key,
        any_value(u.host) AS host,
        any_value(u.first_at) AS first_at,
        any_value(u.last_at) AS last_at,
        coalesce(max(p.fetched_at) FILTER (p.fetched_at <= $since::TIMESTAMPTZ), any_value(u.first_at)) AS copied_at
    FROM replayed_url AS u
    JOIN replayed_period AS p USING (url_key)
    GROUP BY u.url_key
)
SELECT
    copied.*,
    change.changed_at AS stale_at,
    coalesce(learnt.evidence, no_evidence()) AS evidence,
    coalesce(learnt.generation, evidence_generation(copied.copied_at)) AS generation,
    $interval_days::DOUBLE AS interval_days,
    copied.copied_at AS modified_at,
    copied.copied_at + to_microseconds((86400e6 * $interval_days::DOUBLE)::BIGINT) AS due_at
FROM copied
LEFT JOIN learnt USING (url_key)
ASOF LEFT JOIN (SELECT url_key, changed_at FROM replayed_period WHERE changed_at IS NOT NULL) AS change
    ON change.url_key = copied.url_key AND change.changed_at > copied.copied_at
