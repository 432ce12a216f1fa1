-- How each host stands: what is known and fetched of it, how old our copies are, and how it is asked.
-- Reads: host, coverage, freshness, politeness_audit.
-- Params: most, the number of hosts.
-- Grain: one row per host, those with most known URLs first.
WITH early AS (
    SELECT host, count(*) AS early_requests FROM politeness_audit GROUP BY host
)
SELECT
    h.host,
    h.bucket,
    h.known_urls,
    c.never_asked,
    c.fetched,
    c.live,
    c.failing,
    c.share_fetched,
    f.median_age_days,
    f.max_age_days,
    h.requests,
    h.failures,
    h.wire_bytes,
    h.saved_bytes,
    h.delay_seconds,
    h.last_fetched_at,
    coalesce(early.early_requests, 0) AS early_requests
FROM host AS h
JOIN coverage AS c USING (host)
LEFT JOIN freshness AS f USING (host)
LEFT JOIN early USING (host)
ORDER BY h.known_urls DESC, h.host
LIMIT $most
