-- Requests that came before their host or their address was owed one, over all history.
-- Reads: observation, robots.
-- Grain: one row per violation of a rule (delay, connections, spacing, hold, address); no row is the promise.
CREATE VIEW politeness_audit AS
SELECT host, url, cycle, fetched_at, rule, allowed_at, early_seconds FROM early_at_host('observation', 'robots')
UNION ALL
SELECT host, url, cycle, fetched_at, rule, allowed_at, early_seconds FROM early_at_address('observation', 'robots')
ORDER BY fetched_at, host, rule
