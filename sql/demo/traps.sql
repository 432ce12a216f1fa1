-- What the trap rules stopped, and keep out of plans as of each bucket's newest merge that met one.
-- Reads: rejected.
-- Grain: one row per host and rule.
WITH newest AS (
    SELECT bucket, max((epoch, sequence)) AS place FROM rejected WHERE held IS NOT NULL GROUP BY bucket
)
SELECT
    r.host,
    r.rule,
    sum(r.urls)::BIGINT AS urls,
    coalesce(sum(r.held) FILTER ((r.epoch, r.sequence) = newest.place), 0)::BIGINT AS held,
    arg_max(r.example, (r.cycle, r.bucket, r.example)) AS example
FROM rejected AS r
LEFT JOIN newest ON newest.bucket = r.bucket
WHERE r.rule LIKE 'traps.%'
GROUP BY r.host, r.rule
HAVING urls + held > 0
ORDER BY r.host, urls DESC, r.rule
