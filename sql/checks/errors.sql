-- warn: more than half of a host's requests failed on its side (at least ten of them).
-- Reads: cycle_observation.
-- Grain: one row per such host.
SELECT host, count(*) AS requests, count(*) FILTER (NOT is_success(outcome) AND outcome <> 'gone') AS failed
FROM cycle_observation
WHERE sent
GROUP BY host
HAVING count(*) >= 10 AND count(*) FILTER (NOT is_success(outcome) AND outcome <> 'gone') * 2 > count(*)
ORDER BY host
