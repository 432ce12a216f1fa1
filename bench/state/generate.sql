-- What a crawl that scans its whole state takes next: what is due, the oldest first.
-- Reads: base_page.
-- Params: now, budget.
-- Grain: one row per URL.
SELECT
    url_key, host_key, host, url, fetch_url, depth, hops, etag, last_modified, body_digest, text_digest, copy_digest, simhash,
    text_bytes, body_bytes
FROM base_page
WHERE asked_at IS NULL OR asked_at < $now::TIMESTAMPTZ - INTERVAL 1 DAY
ORDER BY asked_at NULLS FIRST, inlinks DESC, url_key
LIMIT $budget::BIGINT
