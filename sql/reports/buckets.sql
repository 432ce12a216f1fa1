-- How even is the work of the buckets, and which host makes one larger than the others?
-- Reads: host, observation.
-- Grain: one row per bucket.
WITH hosts AS (
    SELECT
        bucket,
        sum(known_urls)::BIGINT AS known_urls,
        count(*) AS hosts,
        sum(fetched_urls)::BIGINT AS fetched_urls,
        sum(wire_bytes)::BIGINT AS wire_bytes,
        arg_max(host, (known_urls, host)) AS largest_host,
        max(known_urls) AS largest_urls
    FROM host
    GROUP BY bucket
),
fetches AS (
    SELECT bucket, cycle, date_diff('second', min(fetched_at), max(ended_at)) AS seconds
    FROM observation
    GROUP BY bucket, cycle
)
SELECT
    hosts.bucket,
    hosts.known_urls,
    hosts.hosts,
    hosts.fetched_urls,
    hosts.wire_bytes,
    newest.seconds AS fetch_seconds,
    round(hosts.known_urls / nullif(median(hosts.known_urls) OVER (), 0), 2) AS times_median,
    hosts.largest_host,
    round(100 * hosts.largest_urls / nullif(hosts.known_urls, 0), 1) AS percent_largest
FROM hosts
LEFT JOIN (SELECT bucket, arg_max(seconds, cycle) AS seconds FROM fetches GROUP BY bucket) AS newest USING (bucket)
ORDER BY hosts.bucket
