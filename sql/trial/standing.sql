-- Every known URL of a bucket as a plan finds it: what it is worth, its ranks, and what keeps it out of the plan if
-- anything does, the first of several.
-- Reads: state_page, scored (the whole bucket), verdict, ranked, repeated_page, host_belief, forced, held_host, closed_host.
-- Params: bucket, budget.
-- Grain: one row per URL; left_out is NULL for what the plan holds.
SELECT
    $bucket::USMALLINT AS bucket,
    p.url_key,
    p.host,
    p.url,
    p.depth,
    p.outcome,
    p.asked_at,
    p.asked_at + to_seconds(round(86400 * s.rest_days)::BIGINT) AS rests_until,
    coalesce(r.priority, s.priority) AS priority,
    CASE WHEN s.rank_class = 0 THEN value_of(CASE WHEN t.url_key IS NULL THEN s.priority ELSE priority_of_copy(s.priority) END) END AS value,
    r.host_rank,
    r.cap AS host_cap,
    r.bucket_rank,
    coalesce(p.body_bytes, h.body_bytes) AS expected_bytes,
    coalesce(v.rejected_by, f.reason) AS rule,
    r.reason AS chosen_by,
    CASE
        WHEN v.rejected_by = 'purge' THEN 'purged'
        WHEN v.rejected_by LIKE 'traps.%' THEN 'trap'
        WHEN v.rejected_by IS NOT NULL THEN 'scope'
        WHEN NOT s.is_due AND p.outcome IN ('denied_by_robots', 'robots_unreachable') THEN 'robots'
        WHEN NOT s.is_due AND is_success(p.outcome) THEN 'min_interval'
        WHEN NOT s.is_due THEN 'resting'
        WHEN p.host IN (SELECT host FROM held_host) THEN 'held'
        WHEN p.host IN (SELECT host FROM closed_host) THEN 'blackout'
        WHEN r.url_key IS NULL THEN 'sitemap_cap'
        WHEN r.host_rank > r.cap THEN 'host_cap'
        WHEN r.bucket_rank IS NULL THEN 'new_share'
        WHEN r.bucket_rank > $budget THEN 'below_cutoff'
    END AS left_out
FROM state_page AS p
JOIN scored AS s ON s.url_key = p.url_key
JOIN host_belief AS h ON h.host_key = p.host_key
LEFT JOIN verdict AS v ON v.url_key = p.url_key
LEFT JOIN ranked AS r ON r.url_key = p.url_key
LEFT JOIN repeated_page AS t ON t.url_key = p.url_key
LEFT JOIN forced AS f ON f.url_key = p.url_key
