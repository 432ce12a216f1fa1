-- Every URL of a bucket that may be fetched now, with its priority: the days since it was last asked for.
-- Reads: state_page, rest.
-- Params: now, min_interval_days; new_days, the age that a URL never asked for counts as.
-- Grain: one row per URL.
SELECT
    p.url_key,
    p.host_key,
    p.host,
    p.url,
    p.hops,
    p.announced_by,
    floor(4096 * log2(greatest(
        CASE WHEN p.asked_at IS NULL THEN $new_days::DOUBLE ELSE (epoch($now::TIMESTAMPTZ) - epoch(p.asked_at)) / 86400 END,
        1e-12
    )))::INTEGER AS priority
FROM state_page AS p
LEFT JOIN rest ON rest.outcome = p.outcome AND rest.streak = least(p.streak, rest.longest)
WHERE
    p.asked_at IS NULL
    OR epoch($now::TIMESTAMPTZ) - epoch(p.asked_at)
    >= 86400 * greatest($min_interval_days::DOUBLE, coalesce(rest.days, 0))
