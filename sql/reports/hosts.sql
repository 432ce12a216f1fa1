-- Which hosts were asked most, at what pace, and what did 304 answers save?
-- Reads: host.
-- Grain: one row per host, at most fifty.
SELECT
    host,
    bucket,
    known_urls,
    fetched_urls,
    requests,
    not_modified,
    failures,
    wire_bytes,
    saved_bytes,
    round(100 * saved_bytes / nullif(wire_bytes + saved_bytes, 0), 1) AS percent_saved,
    round(delay_seconds, 2) AS delay_seconds,
    round(response_seconds, 3) AS response_seconds,
    crawl_delay_seconds
FROM host
ORDER BY requests DESC, host
LIMIT 50
