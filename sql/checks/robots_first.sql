-- fail: a page was requested while the newest decision about its origin's robots.txt was to disallow everything.
-- Reads: cycle_observation, cycle_robots.
-- Grain: one row per such request.
SELECT o.url, o.fetched_at, r.verdict, r.fetched_at AS decided_at
FROM (SELECT *, regexp_extract(url, '^[a-z]+://[^/?]+') AS origin FROM cycle_observation WHERE sent) AS o
ASOF JOIN (SELECT * FROM cycle_robots WHERE final) AS r
    ON r.origin = o.origin AND o.fetched_at >= r.fetched_at
WHERE r.verdict = 'disallow' AND o.fetched_at < r.valid_until -- later another cycle's task may have decided
ORDER BY o.url
