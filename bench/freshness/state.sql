-- A generated checkpoint, as a crawl of years leaves it: nine tenths checked, the last time up to half a year ago.
-- Reads: size.
-- Grain: one row per URL, with the columns of page that a plan reads.
WITH numbered AS (
    SELECT n, hash(n) AS a, hash(n + 7) AS b, hash(n % size.hosts) AS host_key, n % 10 > 0 AS is_known
    FROM size, range(size.urls) AS r (n)
),
said AS (
    SELECT
        *,
        TIMESTAMPTZ '2026-11-01 00:00:00+00' - to_seconds(3600 + a % 15552000) AS seen_at,
        check_evidence(b % 3 = 0, 1e0 + b % 97, NULL::DOUBLE) AS evidence
    FROM numbered
)
SELECT
    0::USMALLINT AS bucket,
    a AS url_key,
    host_key,
    host_key || '.example.org' AS host,
    'https://' || host_key || '.example.org/articles/' || n AS url,
    'https://' || host_key || '.example.org/articles/' || n AS fetch_url,
    0::UBIGINT AS pattern_key,
    3::USMALLINT AS depth,
    0::USMALLINT AS hops,
    false AS is_seed,
    TIMESTAMPTZ '2026-01-01 00:00:00+00' AS discovered_at,
    false AS is_sitemap,
    NULL::VARCHAR[] AS announced_by,
    (b % 5)::UINTEGER AS inlinks,
    NULL::TIMESTAMPTZ AS lastmod,
    CASE WHEN is_known THEN 'ok' END AS outcome,
    CASE WHEN is_known THEN 200::USMALLINT END AS status,
    0::USMALLINT AS streak,
    CASE WHEN is_known THEN seen_at END AS asked_at,
    CASE WHEN is_known THEN seen_at END AS fetched_at,
    is_known::UINTEGER * 5 AS fetches,
    NULL::VARCHAR AS etag,
    NULL::VARCHAR AS last_modified,
    CASE WHEN is_known THEN encode(a::VARCHAR) END AS body_digest,
    CASE WHEN is_known THEN encode(a::VARCHAR) END AS text_digest,
    NULL::BLOB AS copy_digest,
    CASE WHEN is_known THEN a END AS simhash,
    CASE WHEN is_known THEN 2000::UINTEGER END AS text_bytes,
    CASE WHEN is_known THEN 20000 + b % 60000 END AS body_bytes,
    CASE WHEN is_known THEN false END AS noindex,
    NULL::VARCHAR AS duplicate_of,
    b % 50 = 0 AS is_alias,
    CASE WHEN is_known THEN seen_at END AS checked_at,
    CASE WHEN is_known THEN true END AS is_live,
    is_known::UINTEGER * 4 AS checks,
    CASE WHEN is_known THEN decayed_evidence(evidence, 4096) END AS evidence,
    CASE WHEN is_known THEN evidence_generation(seen_at) END AS evidence_generation,
    {'modified': 4, 'modified_true': 4, 'signalled': 0, 'signalled_true': 0, 'rapid': 0, 'rapid_changed': 0} AS hints
FROM said
ORDER BY host_key, url_key
