-- Every observation of a URL, oldest first, with the robots.txt decision that stood when it was made.
-- Reads: observation_files, robots_files.
-- Params: url_key.
-- Grain: one row per observation.
SELECT
    o.cycle::VARCHAR AS cycle,
    o.fetch_url,
    o.fetched_at,
    o.outcome,
    o.status,
    o.content_changed,
    o.late,
    o.body_bytes,
    o.wire_bytes,
    o.epoch,
    o.error,
    o.discovered IS NOT NULL AS is_discovered,
    r.url AS robots_url,
    r.read_at AS robots_read_at,
    left(lower(hex(o.robots_digest)), 12) AS robots_version
FROM observation_files AS o
ASOF LEFT JOIN (SELECT * FROM robots_files WHERE final) AS r
    ON r.origin = regexp_extract(o.url, '^[a-z]+://[^/?]+') AND o.fetched_at >= r.fetched_at
WHERE o.url_key = $url_key::UBIGINT
ORDER BY o.epoch, o.sequence, o.fetched_at
