-- What the known URLs of a host add up to: belief in change rates by the whole crawl's prior, and how true its hints are.
-- Only integers are added up, so that a plan is the same for any number of threads. Sitemaps are no pages.
-- Reads: state_page, crawl_belief.
-- Params: now.
-- Grain: one row per host. urls: live pages with evidence; k0 to k7: millionths of belief in each rate over them.
WITH known AS (
    SELECT
        host_key,
        checks > 0 AND is_live AND NOT is_sitemap AS is_told,
        evidence,
        evidence_share($now::TIMESTAMPTZ, evidence_generation) AS share,
        asked_at IS NOT NULL AND NOT is_sitemap AS is_asked,
        fetches > 0 AND is_live AND NOT noindex AND duplicate_of IS NULL AND NOT is_sitemap AS is_useful,
        body_bytes,
        hints
    FROM state_page
),
aged AS (
    SELECT * EXCLUDE (evidence, share), evidence_now(evidence, share) AS evidence FROM known
),
crawl AS (
    SELECT log_prior(no_evidence(), 0, sums, urls) AS log_prior FROM crawl_belief
),
told AS (
    SELECT aged.*, log_belief(crawl.log_prior, aged.evidence) AS logs
    FROM aged
    CROSS JOIN crawl
),
topped AS (
    SELECT *, most_believed(logs) AS most FROM told
),
believed AS (
    SELECT *, belief(logs, most) AS belief FROM topped
),
shared AS (
    SELECT *, CASE WHEN is_told THEN 1e6 / belief_sum(belief) END AS share FROM believed
)
SELECT
    host_key,
    count(*) FILTER (is_told) AS urls,
    belief_sums(belief, share) AS sums,
    count(*) FILTER (is_asked) AS asked,
    count(*) FILTER (is_useful) AS useful,
    coalesce(sum(body_bytes), 0)::UBIGINT AS body_bytes,
    count(body_bytes) AS bodies,
    {
        'modified': coalesce(sum(hints.modified), 0)::BIGINT,
        'modified_true': coalesce(sum(hints.modified_true), 0)::BIGINT,
        'signalled': coalesce(sum(hints.signalled), 0)::BIGINT,
        'signalled_true': coalesce(sum(hints.signalled_true), 0)::BIGINT,
        'rapid': coalesce(sum(hints.rapid), 0)::BIGINT,
        'rapid_changed': coalesce(sum(hints.rapid_changed), 0)::BIGINT
    } AS hints
FROM shared
GROUP BY host_key
