-- Where the URLs are that a plan may choose from.
-- Reads: state_page, scored.
-- Grain: one row per URL.
SELECT p.url_key, p.host_key, p.host, p.url, p.hops, p.announced_by
FROM state_page AS p
WHERE p.url_key IN (SELECT url_key FROM scored WHERE is_due)
