-- Where one URL stands among the candidates of its bucket: how long it rests, its rank in its host and in the bucket.
-- Reads: state_page, candidate, verdict, host_cap, rest.
-- Params: url_key, min_interval_days; other_cap, that of a host that is not in host_cap.
-- Grain: one row if the URL is known, else none.
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
placed AS (
    SELECT url_key, row_number() OVER (ORDER BY priority DESC, url_key) AS bucket_rank
    FROM ranked
    WHERE host_rank <= cap
)
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
    p.asked_at + to_microseconds((86400e6 * greatest($min_interval_days::DOUBLE, coalesce(rest.days, 0)))::BIGINT) AS rests_until,
    candidate.url_key IS NOT NULL AS is_candidate,
    verdict.rejected_by,
    ranked.priority,
    ranked.host_rank,
    coalesce(host_cap.cap, $other_cap) AS cap,
    placed.bucket_rank
FROM state_page AS p
LEFT JOIN rest ON rest.outcome = p.outcome AND rest.streak = least(p.streak, rest.longest)
LEFT JOIN candidate ON candidate.url_key = p.url_key
LEFT JOIN verdict ON verdict.url_key = p.url_key
LEFT JOIN host_cap ON host_cap.host = p.host
LEFT JOIN ranked ON ranked.url_key = p.url_key
LEFT JOIN placed ON placed.url_key = p.url_key
WHERE p.url_key = $url_key::UBIGINT
