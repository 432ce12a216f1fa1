-- URLs to fetch before all others, and why: those an operator forces, until they are asked for, and seeds that are due.
-- A tenth of a day is forgiven, so that a plan that is a little earlier than yesterday's does not lose a day.
-- Reads: ready_page, force_order.
-- Params: now; recheck_seeds_days, 0 for never.
-- Grain: one row per URL.
SELECT p.url_key, coalesce(o.reason, 'plan.recheck_seeds_days') AS reason
FROM ready_page AS p
LEFT JOIN force_order AS o ON o.url_key = p.url_key AND (p.asked_at IS NULL OR p.asked_at < o.forced_at)
WHERE
    o.url_key IS NOT NULL
    OR (
        $recheck_seeds_days::DOUBLE > 0
        AND p.is_seed
        AND p.streak = 0
        AND epoch($now::TIMESTAMPTZ) - epoch(p.asked_at) >= 86400 * ($recheck_seeds_days::DOUBLE - 1e-1)
    )
