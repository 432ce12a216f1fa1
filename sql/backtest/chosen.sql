-- The pages that a policy fetches: of each host up to its cap, then the budget's worth, best first.
-- Reads: replayed_value, replayed_known, replayed_copy.
-- Params: at; budget; cap; min_interval_days.
-- Grain: one row per URL; changed says what the fetch finds.
WITH ranked AS (
    SELECT v.url_key, v.value, row_number() OVER (PARTITION BY k.host ORDER BY v.value DESC, v.url_key) AS host_rank
    FROM replayed_value AS v
    JOIN replayed_known AS k USING (url_key)
    WHERE k.days >= $min_interval_days::DOUBLE
),
best AS (
    SELECT url_key FROM ranked WHERE host_rank <= $cap ORDER BY value DESC, url_key LIMIT $budget
)
SELECT url_key, coalesce(c.stale_at <= $at::TIMESTAMPTZ, false) AS changed
FROM best
JOIN replayed_copy AS c USING (url_key)
