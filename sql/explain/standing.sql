-- Where one URL stands among the candidates of its bucket: how long it rests, its rank in its host and in the bucket.
-- Reads: state_page, scored (the whole bucket), reopened, verdict, ranked, host_cap.
-- Params: url_key; other_cap, that of a host that is not in host_cap.
-- Grain: one row if the URL is known, else none.
SELECT
    p.outcome,
    p.status,
    p.streak,
    p.asked_at,
    p.fetched_at,
    p.changed_at,
    p.fetches,
    p.changes,
    p.duplicate_of,
    p.redirect_url,
    p.depth,
    p.hops,
    p.is_seed,
    p.discovered_at,
    p.asked_at + to_seconds(round(86400 * scored.rest_days)::BIGINT) AS rests_until,
    scored.is_due AS is_candidate,
    p.url_key IN (SELECT url_key FROM reopened) AS is_reopened,
    verdict.rejected_by,
    coalesce(ranked.priority, scored.priority) AS priority,
    ranked.reason,
    ranked.host_rank,
    coalesce(host_cap.cap, $other_cap) AS cap,
    ranked.bucket_rank
FROM state_page AS p
JOIN scored ON scored.url_key = p.url_key
LEFT JOIN verdict ON verdict.url_key = p.url_key
LEFT JOIN ranked ON ranked.url_key = p.url_key
LEFT JOIN host_cap ON host_cap.host = p.host
WHERE p.url_key = $url_key::UBIGINT
