-- The best candidates of a bucket: within each host by rank up to its cap, then the budget's worth of the bucket.
-- Reads: candidate, verdict, state_page, host_cap.
-- Params: cycle, bucket, budget; other_cap, that of a host that is not in host_cap.
-- Grain: one row per URL, columns of plan.
WITH ranked AS (
    SELECT
        c.url_key,
        c.priority,
        row_number() OVER (PARTITION BY c.host_key ORDER BY c.priority DESC, c.url_key) AS host_rank,
        coalesce(host_cap.cap, $other_cap) AS cap
    FROM candidate AS c
    JOIN verdict ON verdict.url_key = c.url_key AND verdict.rejected_by IS NULL
    LEFT JOIN host_cap ON host_cap.host = c.host
),
chosen AS (
    SELECT * FROM ranked WHERE host_rank <= cap ORDER BY priority DESC, url_key LIMIT $budget
)
SELECT
    $cycle::DATE AS cycle,
    $bucket AS bucket,
    chosen.url_key,
    p.host_key,
    p.url,
    p.fetch_url,
    p.host,
    chosen.priority,
    chosen.host_rank,
    p.depth,
    p.hops,
    p.asked_at IS NULL AS is_new,
    p.is_sitemap,
    p.announced_by,
    p.etag,
    p.last_modified,
    p.body_digest,
    p.text_digest,
    p.copy_digest,
    p.simhash,
    p.text_bytes,
    p.body_bytes
FROM chosen
JOIN state_page AS p USING (url_key)
ORDER BY chosen.priority DESC, chosen.url_key
