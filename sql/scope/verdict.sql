-- Whether scope lets a URL in, and the rule that decides: a purge, else the first whose pattern matches path and query.
-- Reads: candidate, purged_url, purged_host, in_scope_host, scope_rule (per host in order, the last unconditional).
-- Params: schemes, ports (empty: any), max_hops.
-- Grain: one row per URL of candidate; rejected_by is NULL for a URL in scope.
WITH split AS (
    SELECT
        url_key,
        host,
        hops,
        announced_by,
        regexp_extract(url, '^([a-z]+)://[^/?]*?(?::([0-9]+))?(/.*)$', ['scheme', 'port', 'path']) AS part
    FROM candidate
),
ruled AS (
    SELECT
        split.url_key,
        arg_min(scope_rule.allow, scope_rule.ordinal) AS allow,
        arg_min(scope_rule.rule, scope_rule.ordinal) AS rule
    FROM split
    JOIN scope_rule ON scope_rule.host = split.host
    WHERE scope_rule.pattern IS NULL OR regexp_matches(split.part.path, scope_rule.pattern)
    GROUP BY split.url_key
),
announced AS (
    SELECT url_key
    FROM (SELECT url_key, unnest(announced_by) AS host FROM split WHERE announced_by IS NOT NULL)
    WHERE host IN (SELECT host FROM in_scope_host)
)
SELECT
    split.url_key,
    CASE
        WHEN split.url_key IN (SELECT url_key FROM purged_url) OR split.host IN (SELECT host FROM purged_host) THEN 'purge'
        WHEN NOT list_contains($schemes, split.part.scheme) THEN 'scope.schemes'
        WHEN len($ports) > 0 AND NOT list_contains(
            $ports, coalesce(try_cast(split.part.port AS INTEGER), CASE split.part.scheme WHEN 'https' THEN 443 ELSE 80 END)
        ) THEN 'scope.ports'
        WHEN
            in_scope_host.host IS NULL AND NOT split.hops BETWEEN 1 AND $max_hops
            AND split.url_key NOT IN (SELECT url_key FROM announced)
            THEN 'scope.hosts'
        WHEN NOT ruled.allow THEN ruled.rule
    END AS rejected_by
FROM split
LEFT JOIN in_scope_host ON in_scope_host.host = split.host
LEFT JOIN ruled ON ruled.url_key = split.url_key
