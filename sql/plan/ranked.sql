-- The choice among the candidates of a bucket: within each host by rank up to its cap, then the budget's worth of them.
-- New URLs have a share of the budget, and what known ones leave of it. URLs whose longest interval is over come first,
-- the oldest, as far as their share of the budget goes.
-- Reads: scored, verdict, repeated_page, host_cap.
-- Params: lowest, the priority down to which all candidates are there; budget; new_limit, new_may_fill, overdue_limit, sitemaps_per_host; other_cap, that of a host not in host_cap.
-- Grain: one row per candidate in scope. bucket_rank is NULL for what its host's cap or the share of new URLs leaves out.
WITH accepted AS (
    SELECT
        s.url_key,
        s.host_key,
        s.is_new,
        coalesce(host_cap.cap, $other_cap) AS cap,
        s.rank_class,
        CASE WHEN s.rank_class = 0 AND r.url_key IS NOT NULL THEN priority_of_copy(s.priority) ELSE s.priority END AS priority,
        s.overdue_days IS NOT NULL AND coalesce(host_cap.cap, $other_cap) > 0 AS is_overdue,
        s.overdue_days
    FROM scored AS s
    JOIN verdict ON verdict.url_key = s.url_key AND verdict.rejected_by IS NULL
    LEFT JOIN repeated_page AS r ON r.url_key = s.url_key
    LEFT JOIN host_cap ON host_cap.host_key = s.host_key
    WHERE s.is_due
),
promoted AS (
    SELECT url_key
    FROM accepted
    WHERE is_overdue
    ORDER BY overdue_days DESC, url_key
    LIMIT $overdue_limit
),
classed AS (
    SELECT
        a.url_key,
        a.host_key,
        a.is_new,
        a.cap,
        CASE WHEN promoted.url_key IS NOT NULL THEN 1 ELSE a.rank_class END AS rank_class,
        CASE WHEN promoted.url_key IS NOT NULL THEN (1 << 20) + least(a.overdue_days, 5e5)::INTEGER ELSE a.priority END
        AS priority
    FROM accepted AS a
    LEFT JOIN promoted USING (url_key)
),
within_host AS (
    SELECT *, row_number() OVER (PARTITION BY host_key ORDER BY priority DESC, url_key) AS host_rank
    FROM classed
    WHERE priority >= $lowest
    QUALIFY rank_class <> 2 OR row_number() OVER (PARTITION BY host_key, rank_class ORDER BY priority DESC, url_key) <= $sitemaps_per_host
),
shared AS (
    SELECT
        *,
        rank_class = 0 AND is_new AS is_share,
        host_rank <= cap AS is_capped_in,
        row_number() OVER (PARTITION BY is_share, is_capped_in ORDER BY priority DESC, url_key) AS share_rank,
        count(CASE WHEN NOT is_share AND is_capped_in THEN 1 END) OVER () AS others  -- with FILTER it would be quadratic
    FROM within_host
),
kept AS (
    SELECT *, is_capped_in AND (
        NOT is_share
        OR share_rank <= $new_limit
        OR ($new_may_fill AND share_rank <= $budget - others)
    ) AS is_kept
    FROM shared
)
SELECT
    url_key,
    host_key,
    priority,
    CASE rank_class WHEN 4 THEN 'forced' WHEN 3 THEN 'seed' WHEN 2 THEN 'sitemap' WHEN 1 THEN 'max_interval' ELSE CASE WHEN is_new THEN 'new' ELSE 'priority' END END AS reason,
    host_rank,
    cap,
    share_rank,
    CASE WHEN is_kept THEN row_number() OVER (PARTITION BY is_kept ORDER BY priority DESC, url_key) END AS bucket_rank
FROM kept
