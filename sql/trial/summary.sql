-- How many URLs a cycle would fetch or leave out for which reason.
-- Reads: choice.
-- Grain: one row per reason, those that are in first, the most frequent of them first.
SELECT is_in, reason, count(*) AS urls, coalesce(sum(expected_bytes), 0)::UBIGINT AS expected_bytes
FROM choice
GROUP BY is_in, reason
ORDER BY is_in DESC, urls DESC, reason
