-- How many links lead to each host, so that they can be sorted one range of hosts after another.
-- Reads: earlier (the rows that count so far), fresh (the rows of the last segment).
-- Grain: one row per host, in the order of their keys.
SELECT target_host_key AS host_key, count(*) AS links
FROM (SELECT target_host_key FROM earlier UNION ALL SELECT target_host_key FROM fresh)
GROUP BY target_host_key
ORDER BY target_host_key
