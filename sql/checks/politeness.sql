-- fail: a host or an address was asked before it was owed a request by the rules of politeness_audit.
-- Reads: cycle_observation, cycle_robots.
-- Grain: one row per such request and rule.
SELECT host, url, fetched_at, rule, early_seconds FROM early_at_host('cycle_observation', 'cycle_robots')
UNION ALL
SELECT host, url, fetched_at, rule, early_seconds FROM early_at_address('cycle_observation', 'cycle_robots')
ORDER BY host, fetched_at, rule
