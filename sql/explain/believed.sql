-- What is believed of one URL, step by step as in plan/scored, and the rules that steer it.
-- Reads: state_page, scored (the whole bucket), repeated_page, host_belief, steering, forced.
-- Params: now, url_key.
-- Grain: one row if the URL is known, else none. days: since the copy was made, NULL without one.
WITH known AS MATERIALIZED (
    SELECT
        p.url_key,
        p.checks,
        p.asked_at,
        greatest(p.checked_at, p.fetched_at) AS known_at,
        p.lastmod > known_at AS signalled,
        h.signal_lag,
        coalesce(st.weight, 1e0) AS rule_weight,
        page_weight(p.inlinks, p.is_alias OR p.duplicate_of IS NOT NULL OR r.url_key IS NOT NULL) AS page_weight,
        st.max_interval_days,
        f.reason AS forced,
        s.rank_class,
        CASE WHEN s.rank_class = 0 AND r.url_key IS NOT NULL THEN priority_of_copy(s.priority) ELSE s.priority END AS priority,
        s.rest_days,
        h.log_prior,
        coalesce(p.evidence, no_evidence()) AS evidence,
        coalesce(p.evidence_generation, 0) AS generation
    FROM state_page AS p
    JOIN scored AS s ON s.url_key = p.url_key
    JOIN host_belief AS h ON h.host_key = p.host_key
    LEFT JOIN repeated_page AS r ON r.url_key = p.url_key
    LEFT JOIN steering AS st ON st.url_key = p.url_key
    LEFT JOIN forced AS f ON f.url_key = p.url_key
    WHERE p.url_key = $url_key::UBIGINT
),
aged AS MATERIALIZED (
    SELECT *, aged_evidence(evidence, generation, evidence_generation($now::TIMESTAMPTZ)) AS aged FROM known
),
told AS MATERIALIZED (SELECT *, log_belief(log_prior, aged) AS logs FROM aged),
topped AS MATERIALIZED (SELECT *, most_believed(logs) AS most FROM told),
believed AS MATERIALIZED (SELECT *, belief(logs, most) AS belief FROM topped)
SELECT
    * EXCLUDE (aged, logs, most),
    belief_sum(belief) AS belief_sum,
    mean_rate(belief) AS mean_rate,
    (epoch($now::TIMESTAMPTZ) - epoch(known_at)) / 86400 AS days,
    stale_share(belief, days) AS stale_share,
    CASE WHEN rank_class = 0 THEN value_of(priority) END AS value
FROM believed
