-- Which hosts name other URLs as canonical, and can that be believed? Loops, long chains, targets that are not there.
-- Reads: page, alias.
-- Grain: one row per host with such pages, the most first, at most fifty.
WITH naming AS (
    SELECT
        page.host,
        page.url,
        alias.alias_of,
        alias.steps,
        alias.is_elsewhere,
        alias.target_noindex,
        alias.target_outcome IN ('ok', 'not_modified') AS is_there
    FROM page
    LEFT JOIN alias USING (url_key)
    WHERE page.canonical_url <> page.url
)
SELECT
    host,
    count(*) AS pages,
    count(DISTINCT alias_of) AS targets,
    count(*) FILTER (alias_of IS NULL) AS in_loops,
    max(steps) AS longest_chain,
    count(*) FILTER (is_elsewhere) AS to_other_hosts,
    count(*) FILTER (alias_of IS NOT NULL AND NOT coalesce(is_there, false)) AS to_pages_not_there,
    count(*) FILTER (target_noindex) AS to_noindex,
    min(url) AS example
FROM naming
GROUP BY host
ORDER BY pages DESC, host
LIMIT 50
