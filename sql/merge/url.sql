-- The URLs that a merge makes known.
-- Reads: judged, in_scope_host.
-- Params: cycle, bucket, epoch, sequence.
-- Grain: one row per URL, columns of url.
SELECT
    $cycle::DATE AS cycle,
    $bucket AS bucket,
    $epoch AS epoch,
    $sequence AS sequence,
    url_key,
    host_key,
    url,
    fetch_url,
    host,
    pattern_key,
    depth,
    CASE WHEN host IN (SELECT host FROM in_scope_host) THEN 0 ELSE hops END AS hops,
    false AS is_seed,
    kind,
    CASE WHEN kind <> 'settings' THEN source_url END AS source_url,
    found_at AS discovered_at
FROM judged
WHERE rule IS NULL
ORDER BY host_key, url_key
