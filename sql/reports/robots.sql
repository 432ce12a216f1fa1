-- Which robots.txt decided about a URL each time, what did it say, and how long was it good for?
-- Reads: observation, robots.
-- Params: url, the canonical URL.
-- Grain: one row per observation of the URL, in the order of time.
WITH decision AS (
    SELECT * FROM robots WHERE final
),
version AS (
    SELECT origin, body_digest, any_value(body) AS body FROM robots WHERE body IS NOT NULL GROUP BY origin, body_digest
)
SELECT
    o.cycle,
    o.fetched_at,
    o.outcome,
    d.verdict,
    d.url AS robots_url,
    d.status AS robots_status,
    d.read_at,
    d.valid_until,
    d.unreachable_since,
    d.suspect,
    lower(hex(o.robots_digest)) AS version,
    replace(replace(v.body::VARCHAR, '\x0D', ''), '\x0A', chr(10)) AS robots_txt
FROM observation AS o
ASOF LEFT JOIN decision AS d ON d.origin = regexp_extract(o.url, '^[a-z]+://[^/?]+') AND o.fetched_at >= d.fetched_at
LEFT JOIN version AS v ON v.origin = d.origin AND v.body_digest = o.robots_digest
WHERE o.url = $url
ORDER BY o.fetched_at
