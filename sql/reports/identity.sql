-- Which links were no URL to crawl, and which parameters were dropped from the identity of links, by host?
-- Reads: observation (of each URL the newest answer with links).
-- Grain: one row per host, fate (rejected or dropped) and reason or name of the parameter, most links first, at most fifty.
WITH read AS (
    SELECT host, rejected_links, dropped_parameters
    FROM observation
    WHERE outcome IN ('ok', 'redirected')
    QUALIFY row_number() OVER (PARTITION BY bucket, url_key ORDER BY fetched_at DESC, epoch DESC, sequence DESC) = 1
),
counted AS (
    SELECT host, 'rejected' AS fate, unnest(rejected_links, recursive := true)
    FROM read
    UNION ALL
    SELECT host, 'dropped', unnest(dropped_parameters, recursive := true)
    FROM read
)
SELECT host, fate, reason AS what, sum(links)::BIGINT AS links, count(*) AS pages
FROM counted
GROUP BY host, fate, what
ORDER BY links DESC, host, fate, what
LIMIT 50
