-- The budget's worth of a bucket's ranked URLs, with what a fetch needs to know of them.
-- Reads: ranked, ready_page, host_belief.
-- Params: cycle, bucket, budget.
-- Grain: one row per URL, columns of plan.
SELECT
    $cycle::DATE AS cycle,
    $bucket AS bucket,
    r.url_key,
    p.host_key,
    p.url,
    p.fetch_url,
    p.host,
    r.priority,
    r.reason,
    coalesce(p.body_bytes, h.body_bytes) AS expected_bytes,
    r.host_rank,
    p.depth,
    p.hops,
    p.asked_at IS NULL AS is_new,
    coalesce(p.lastmod > p.checked_at, false) AS signalled,
    h.modified_trusted,
    h.noisy,
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
FROM ready_page AS p
JOIN ranked AS r USING (url_key)
JOIN host_belief AS h ON h.host_key = p.host_key
WHERE r.bucket_rank <= $budget
