-- Where do sites make URLs without end: what did rules of traps stop, and what do they keep out of plans now?
-- Reads: rejected.
-- Grain: one row per rule, host and, where the rule is about one, path pattern, most URLs first, at most fifty.
WITH newest AS (
    SELECT bucket, max((epoch, sequence)) AS place FROM rejected WHERE held IS NOT NULL GROUP BY bucket
)
SELECT
    r.rule,
    r.host,
    r.pattern,
    sum(r.urls)::BIGINT AS stopped_when_found,
    coalesce(sum(r.held) FILTER ((r.epoch, r.sequence) = newest.place), 0)::BIGINT AS kept_out_of_plans,
    min(r.cycle) AS first_cycle,
    max(r.cycle) AS last_cycle,
    arg_max(r.example, (r.cycle, r.bucket, r.example)) AS example
FROM rejected AS r
LEFT JOIN newest ON newest.bucket = r.bucket
WHERE r.rule LIKE 'traps.%'
GROUP BY r.rule, r.host, r.pattern
ORDER BY stopped_when_found + kept_out_of_plans DESC, r.rule, r.host, r.pattern
LIMIT 50
