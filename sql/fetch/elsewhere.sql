-- What the owner of another bucket last learnt by asking for a URL as a robots.txt, at the end of its redirects.
-- Reads: robots_files.
-- Params: url; now, after which the answer must still be valid.
-- Grain: one row, or none.
WITH asked AS (
    SELECT origin, hop, fetched_at
    FROM robots_files
    WHERE url = $url
    ORDER BY fetched_at DESC, epoch DESC, sequence DESC, origin, hop
    LIMIT 1
)
SELECT
    r.verdict,
    r.outcome,
    r.status,
    coalesce(r.read_at, r.fetched_at) AS read_at,
    r.valid_until,
    coalesce(r.body, (SELECT any_value(body) FROM robots_files WHERE body_digest = r.body_digest)) AS body,
    r.body_digest,
    r.suspect
FROM robots_files AS r
JOIN asked ON r.origin = asked.origin AND r.hop >= asked.hop AND r.fetched_at >= asked.fetched_at
WHERE r.verdict IN ('rules', 'allow') AND r.valid_until > $now
ORDER BY r.fetched_at DESC, r.epoch DESC, r.sequence DESC, r.hop
LIMIT 1
