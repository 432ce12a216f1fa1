-- The bodies of a bucket whose time is over: fetched before an instant, not what their page says now, and of no other page.
-- Reads: capture_files, state_page, copy_files (of all shards).
-- Params: before.
-- Grain: one row per body.
SELECT b.url_key, b.fetched_at
FROM capture_files AS b
LEFT JOIN state_page AS p ON p.url_key = b.url_key AND p.body_digest = b.body_digest
LEFT JOIN (SELECT DISTINCT digest, url_key FROM copy_files WHERE kind = 'body') AS c
    ON c.digest = b.body_digest AND c.url_key <> b.url_key
WHERE b.fetched_at < $before AND p.url_key IS NULL AND c.url_key IS NULL
