-- What a fetch has to ask for, a host's URLs together and best first, the hosts in the order of their best.
-- Reads: todo.
-- Grain: one row per URL; fetch_url is NULL where it is url.
SELECT
    url_key, host_key, url, nullif(fetch_url, url) AS fetch_url, host, priority, depth, hops, etag, last_modified,
    body_digest, text_digest, copy_digest, simhash, text_bytes, body_bytes
FROM todo
ORDER BY max(priority) OVER (PARTITION BY host) DESC, host, priority DESC, url_key
