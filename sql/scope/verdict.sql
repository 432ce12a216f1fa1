-- Whether scope lets a URL in, and the rule that decides: the first whose pattern matches path and query.
-- Reads: candidate, scope_rule (per host in order, the last unconditional).
-- Params: schemes, ports (empty: any), max_hops.
-- Grain: one row per URL of candidate.
WITH split AS (
    SELECT url_key, host, hops, regexp_extract(url, '^([a-z]+)://[^/?]*?(?::([0-9]+))?(/.*)$', ['scheme', 'port', 'path']) AS part
    FROM candidate
),
ruled AS (
    SELECT split.url_key, arg_min(scope_rule.allow, scope_rule.ordinal) AS allow, arg_min(scope_rule.rule, scope_rule.ordinal) AS rule
    FROM split
    JOIN scope_rule ON scope_rule.host = split.host
    WHERE scope_rule.pattern IS NULL OR regexp_matches(split.part.path, scope_rule.pattern)
    GROUP BY split.url_key
)
SELECT
    split.url_key,
    CASE
        WHEN NOT list_contains($schemes, split.part.scheme) THEN 'scope.schemes'
        WHEN len($ports) > 0 AND NOT list_contains(
            $ports, coalesce(try_cast(split.part.port AS INTEGER), CASE split.part.scheme WHEN 'https' THEN 443 ELSE 80 END)
        ) THEN 'scope.ports'
        WHEN ruled.allow OR (ruled.rule = 'scope.hosts' AND split.hops <= $max_hops AND split.hops > 0) THEN NULL
        ELSE ruled.rule
    END AS rejected_by
FROM split
JOIN ruled USING (url_key)
