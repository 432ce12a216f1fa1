-- What was found and not followed, by the rule that stopped it?
-- Reads: rejected.
-- Grain: one row per rule.
SELECT
    rule,
    sum(urls)::BIGINT AS urls,
    count(DISTINCT cycle) AS cycles,
    max(cycle) AS last_cycle,
    arg_max(example, (cycle, bucket, example)) AS example
FROM rejected
WHERE urls > 0
GROUP BY rule
ORDER BY urls DESC, rule
