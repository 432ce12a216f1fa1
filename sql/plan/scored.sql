-- The known URLs of a bucket with what fetching them now is worth; docs/recrawl-policy.md says it in words.
-- A tenth of the weight where a text is repeated is plan/ranked's, since who repeats is only asked of a short list.
-- Reads: ready_page, rest, reopened, steering, forced, host_belief.
-- Params: now, min_interval_days, sitemap_interval_days, objective; whole, whether to keep what is not due as well;
-- horizon_days, whether to keep what may be due until then and what robots.txt keeps out, 0 if not.
-- Grain: one row per URL. rank_class: 4 forced, 3 seed, 2 sitemap, 0 by value. overdue_days: age if its longest interval
-- is over, else NULL. rest_days: days from asked_at that it rests. latest_priority: what its priority does not exceed until
-- the horizon if nothing is learnt of it, as its value grows by no more than the square of its age's growth.
WITH known AS (
    SELECT
        p.url_key,
        p.host_key,
        p.is_sitemap,
        p.outcome,
        p.asked_at IS NULL AS is_new,
        days_between(p.asked_at, $now::TIMESTAMPTZ) AS rested_days,
        CASE WHEN p.streak > 0 THEN rest_of(rest.days, p.outcome, p.streak + coalesce(p.status = 410, false)::INTEGER) END AS failed_days,
        greatest(
            CASE WHEN p.is_sitemap THEN $sitemap_interval_days::DOUBLE ELSE coalesce(s.min_interval_days, $min_interval_days::DOUBLE) END,
            CASE WHEN o.url_key IS NOT NULL THEN 0e0 WHEN p.is_seed AND failed_days > 365 THEN 365e0 ELSE failed_days END
        ) AS rest_days,
        f.reason AS forced,
        greatest(p.checked_at, p.fetched_at) AS known_at,
        s.max_interval_days,
        coalesce(s.weight, 1e0) * page_weight(p.inlinks, p.is_alias OR p.duplicate_of IS NOT NULL) AS weight,
        p.lastmod > known_at AS signalled,
        p.evidence,
        evidence_share($now::TIMESTAMPTZ, p.evidence_generation) AS evidence_share
    FROM ready_page AS p
    CROSS JOIN rest
    LEFT JOIN reopened AS o ON o.url_key = p.url_key
    LEFT JOIN steering AS s ON s.url_key = p.url_key
    LEFT JOIN forced AS f ON f.url_key = p.url_key
),
due AS (
    SELECT
        * EXCLUDE (evidence, evidence_share, failed_days, outcome),
        forced IS NOT NULL OR is_new OR rested_days >= rest_days AS is_due,
        days_between(known_at, $now::TIMESTAMPTZ) AS days,
        evidence_now(evidence, evidence_share) AS evidence
    FROM known
    WHERE
        $whole OR forced IS NOT NULL OR is_new OR rested_days + $horizon_days::DOUBLE >= rest_days
        OR ($horizon_days::DOUBLE > 0 AND outcome IN ('denied_by_robots', 'robots_unreachable'))
),
told AS (
    SELECT due.*, CASE WHEN due.signalled THEN h.signal_lag ELSE 0e0 END AS lag, h.new_value, log_belief(h.log_prior, due.evidence) AS logs
    FROM due
    JOIN host_belief AS h USING (host_key)
),
topped AS (SELECT *, most_believed(logs) AS most FROM told),
believed AS (SELECT *, belief(logs, most) AS belief FROM topped),
valued AS (
    SELECT *, weight * CASE
        WHEN days IS NULL THEN new_value
        WHEN $objective = 'age' THEN age_index(belief, days, lag)
        ELSE freshness_index(belief, days, lag)
    END AS worth
    FROM believed
)
SELECT
    url_key,
    host_key,
    is_due,
    is_new,
    CASE WHEN forced = 'plan.recheck_seeds_days' THEN 3 WHEN forced IS NOT NULL THEN 4 WHEN is_sitemap THEN 2 ELSE 0 END::UTINYINT AS rank_class,
    CASE
        WHEN is_sitemap AND forced IS NULL THEN least(coalesce(rested_days, 5e5), 5e5)::INTEGER
        ELSE least(greatest(priority_of(worth), -524288), 524287)
    END + (rank_class::INTEGER << 20) AS priority,
    CASE WHEN rank_class = 0 AND days >= max_interval_days THEN days::FLOAT END AS overdue_days,
    rest_days::FLOAT AS rest_days,
    CASE
        WHEN rank_class > 0 OR days IS NULL THEN priority
        WHEN days < 1e-3 OR days + $horizon_days::DOUBLE >= max_interval_days THEN 1 << 30
        ELSE priority + 1 + ceil(8192 * log2(1e0 + $horizon_days::DOUBLE / days))::INTEGER
    END AS latest_priority
FROM valued
