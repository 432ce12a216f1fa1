-- The pages of a bucket as a crawl of long standing leaves them: nine tenths fetched, at ages spread over as many days as
-- it takes to fetch them all.
-- Reads: layout.
-- Params: bucket, width, now, days, copies.
-- Grain: one row per URL, columns of page.
WITH numbered AS (
    SELECT
        host_rank,
        web_host_key($bucket, host_rank, $width::UBIGINT) AS host_key,
        unnest(range(size)) AS number
    FROM layout
),
drawn AS (
    SELECT
        *,
        web_url_key($bucket, host_rank, number) AS url_key,
        hash(url_key, 'draw') AS chance,
        chance % 10 > 0 AS is_known,
        (chance >> 8) % 10 AS kind,
        (chance >> 16) % 1000000 / 1e6 AS age,
        3 + (chance >> 40) % 4 AS checks,
        CASE WHEN kind < 5 THEN 0 WHEN kind < 8 THEN 1 ELSE 2 END AS pace,
        web_url($bucket, host_rank, number) AS url
    FROM numbered
),
said AS (
    SELECT
        *,
        $now::TIMESTAMPTZ - to_microseconds((86400e6 * (1 + age * $days))::BIGINT) AS seen_at,
        $days::DOUBLE AS interval_days,
        decayed_evidence(check_evidence(pace > 0, interval_days, NULL::DOUBLE), 1024 * (pace * (checks - 1) // 2)) AS changes_said,
        decayed_evidence(check_evidence(false, interval_days, NULL::DOUBLE), 1024 * (checks - pace * (checks - 1) // 2)) AS rests_said,
        web_content(url_key, 0, $copies) AS content,
        content[1] = 'c' AS is_copy,
        CASE WHEN is_known THEN web_digest(content) END AS digest
    FROM drawn
)
SELECT
    $bucket::USMALLINT AS bucket,
    url_key,
    host_key,
    web_host($bucket, host_rank) AS host,
    url,
    url AS fetch_url,
    web_pattern_key(host_key, number) AS pattern_key,
    least(2 + number // 100, 9)::USMALLINT AS depth,
    0::USMALLINT AS hops,
    number = 0 AS is_seed,
    seen_at - to_days(30 + (chance >> 50)::INTEGER % 300) AS discovered_at,
    false AS is_sitemap,
    NULL::VARCHAR[] AS announced_by,
    floor(1 / (1e-3 + ((chance >> 20) % 1000000) / 1e6))::UINTEGER AS inlinks,
    NULL::TIMESTAMPTZ AS lastmod,
    NULL::DOUBLE AS sitemap_priority,
    CASE WHEN is_known THEN CASE WHEN kind = 9 AND chance % 7 = 0 THEN 'gone' ELSE 'ok' END END AS outcome,
    CASE WHEN outcome = 'gone' THEN 404 WHEN is_known THEN 200 END::USMALLINT AS status,
    NULL::BLOB AS robots_digest,
    coalesce(outcome = 'gone', false)::USMALLINT AS streak,
    CASE WHEN is_known THEN seen_at::DATE END AS last_cycle,
    CASE WHEN is_known THEN seen_at END AS asked_at,
    CASE WHEN is_known THEN seen_at END AS fetched_at,
    CASE WHEN is_known THEN seen_at - to_days(30) END AS changed_at,
    CASE WHEN is_known THEN checks + 1 ELSE 0 END::UINTEGER AS fetches,
    CASE WHEN is_known THEN pace * (checks - 1) // 2 ELSE 0 END::UINTEGER AS changes,
    CASE WHEN is_known AND kind % 2 = 0 THEN printf('"%x-%x"', chance >> 32, 20000 + chance % 60000) END AS etag,
    CASE WHEN is_known AND kind % 2 = 0 THEN strftime(seen_at - to_days(30), '%a, %d %b %Y %H:%M:%S GMT') END AS last_modified,
    digest AS body_digest,
    turned_digest(digest, 8) AS text_digest,
    turned_digest(digest, 16) AS copy_digest,
    CASE WHEN is_known THEN hash(content, 'simhash') END AS simhash,
    CASE WHEN is_known THEN (800 + chance % 9000)::UINTEGER END AS text_bytes,
    CASE WHEN is_known THEN (20000 + chance % 60000)::UBIGINT END AS body_bytes,
    CASE WHEN is_known THEN 'The page number ' || number || ' of site ' || host_rank END AS title,
    CASE WHEN is_known THEN 'en' END AS language,
    CASE WHEN is_known THEN false END AS noindex,
    NULL::VARCHAR AS redirect_url,
    CASE WHEN is_known AND kind = 3 THEN url END AS canonical_url,
    CASE WHEN is_known AND is_copy AND chance % 3 > 0 THEN web_url($bucket, host_rank, 0) END AS duplicate_of,
    NULL::VARCHAR AS near_of,
    is_known::UINTEGER AS last_epoch,
    false AS is_alias,
    CASE WHEN is_known THEN seen_at END AS checked_at,
    CASE WHEN is_known THEN outcome = 'ok' END AS is_live,
    CASE WHEN is_known THEN checks ELSE 0 END::UINTEGER AS checks,
    CASE WHEN is_known THEN add_evidence(changes_said, rests_said) END AS evidence,
    CASE WHEN is_known THEN evidence_generation(seen_at) END AS evidence_generation,
    {
        'modified': checks, 'modified_true': checks, 'signalled': 0, 'signalled_true': 0, 'rapid': 0, 'rapid_changed': 0
    } AS hints
FROM said
