-- What the trap rules stopped.
-- Reads: rejected.
-- Grain: one row per rule.
SELECT
    rule,
    sum(urls)::BIGINT AS urls,
    arg_max(example, (cycle, bucket, example)) AS example
FROM rejected
WHERE rule LIKE 'traps.%'
GROUP BY rule
ORDER BY urls DESC, rule
