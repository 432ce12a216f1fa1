-- What is believed of a page of a host before anything is known of the page itself, and which hints of it are trusted.
-- Reads: host_sums, crawl_belief, noisy_host (what the settings say of a host).
-- Params: objective.
-- Grain: one row per host. new_value: what a new URL of it is worth at weight 1: what a copy will be in 180 days, by the
-- share of its new URLs that bring a page of their own, as if ten more of the crawl's kind had been seen. signal_lag: -ln(1 - p) for signals that are true with probability p, 0 if not trusted.
-- body_bytes: mean body, that of all hosts if it has none.
WITH every_host AS (
    SELECT coalesce((sum(body_bytes) // nullif(sum(bodies), 0))::UBIGINT, 0) AS body_bytes FROM host_sums
),
told AS (
    SELECT
        h.*,
        log_prior(h.sums, h.urls, crawl_belief.sums, crawl_belief.urls) AS log_prior,
        (h.useful + 1e1 * (crawl_belief.useful + 7e0) / (crawl_belief.asked + 1e1)) / (h.asked + 1e1) AS new_share
    FROM host_sums AS h
    CROSS JOIN crawl_belief
),
believed AS (SELECT *, belief(log_prior, 0e0) AS belief FROM told)
SELECT
    h.host_key,
    h.log_prior,
    h.new_share * CASE $objective WHEN 'age' THEN age_index(h.belief, 18e1, 0e0) ELSE fresh_days(h.belief, 18e1) END AS new_value,
    CASE WHEN lower_bound(h.hints.signalled_true, h.hints.signalled) >= 5e-1
        THEN -ln(1e0 - least((h.hints.signalled_true + 1) / (h.hints.signalled + 4e0), 9.5e-1))
        ELSE 0e0
    END AS signal_lag,
    lower_bound(h.hints.modified_true, h.hints.modified) >= 9e-1 AS modified_trusted,
    coalesce(noisy_host.noisy, h.hints.rapid >= 10 AND h.hints.rapid_changed > 9e-1 * h.hints.rapid) AS noisy,
    coalesce(h.body_bytes // nullif(h.bodies, 0), every_host.body_bytes)::UBIGINT AS body_bytes
FROM believed AS h
CROSS JOIN every_host
LEFT JOIN noisy_host USING (host_key)
