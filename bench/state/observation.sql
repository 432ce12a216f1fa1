-- What a fetch of the admitted rows of a plan brings: a page changes by a rate of its own, most others are not modified or
-- the same; of a hundred two are gone or fail.
-- Reads: plan_files.
-- Params: cycle, bucket, epoch, sequence, start, copies; cutoff_priority, cutoff_url_key, new_cutoff_priority,
-- new_cutoff_url_key: of the admission.
-- Grain: one row per admitted URL, columns of observation.
WITH admitted AS (
    SELECT
        *,
        hash(url_key, $cycle::DATE) AS chance,
        hash(url_key, 'rate') % 10 AS pace,
        datediff('day', DATE '2000-01-01', $cycle::DATE) AS version
    FROM plan_files
    WHERE
        (priority > $cutoff_priority OR (priority = $cutoff_priority AND url_key <= $cutoff_url_key))
        AND (
            reason <> 'new' OR priority > $new_cutoff_priority
            OR (priority = $new_cutoff_priority AND url_key <= $new_cutoff_url_key)
        )
),
drawn AS (
    SELECT
        *,
        CASE chance % 100 WHEN 0 THEN 'gone' WHEN 1 THEN 'server_error' ELSE 'ok' END AS answer,
        body_digest IS NULL OR (chance >> 8) % 10 < CASE WHEN pace < 5 THEN 0 WHEN pace < 8 THEN 3 ELSE 8 END AS is_changed,
        CASE WHEN answer = 'ok' AND NOT is_changed AND etag IS NOT NULL THEN 'not_modified' ELSE answer END AS outcome,
        web_content(url_key, version, $copies) AS content,
        $start::TIMESTAMPTZ + to_milliseconds(1000 * row_number() OVER (PARTITION BY host_key ORDER BY priority DESC, url_key))
        AS fetched_at
    FROM admitted
)
SELECT
    $cycle::DATE AS cycle,
    $bucket AS bucket,
    $epoch AS epoch,
    $sequence AS sequence,
    url_key,
    host_key,
    url,
    fetch_url,
    host,
    outcome,
    CASE outcome WHEN 'ok' THEN 200 WHEN 'not_modified' THEN 304 WHEN 'gone' THEN 404 ELSE 503 END AS status,
    fetched_at,
    fetched_at + INTERVAL 200 MILLISECONDS AS ended_at,
    true AS sent,
    false AS late,
    0e0 AS delay_seconds,
    1 AS connections,
    '192.0.2.' || host_key % 250 AS address,
    0e0 AS address_delay_seconds,
    1 AS address_buckets,
    NULL::BLOB AS robots_digest,
    etag IS NOT NULL AS conditional,
    false AS audit,
    CASE
        WHEN outcome = 'not_modified' THEN etag
        WHEN outcome = 'ok' AND pace % 2 = 0 THEN printf('"%x-%x"', chance, 20000 + chance % 60000)
    END AS etag,
    CASE
        WHEN outcome = 'not_modified' THEN last_modified
        WHEN outcome = 'ok' AND pace % 2 = 0 THEN strftime(fetched_at, '%a, %d %b %Y %H:%M:%S GMT')
    END AS last_modified,
    CASE WHEN outcome = 'ok' THEN 'text/html' END AS content_type,
    CASE WHEN outcome = 'ok' THEN 'utf-8' END AS charset,
    CASE WHEN outcome = 'ok' THEN 'header' END AS charset_reason,
    CASE WHEN outcome = 'ok' THEN 5000 + chance % 15000 ELSE 0 END AS wire_bytes,
    CASE WHEN outcome = 'ok' THEN coalesce(body_bytes, 20000 + chance % 60000) WHEN outcome = 'not_modified' THEN body_bytes END
    AS body_bytes,
    CASE WHEN outcome = 'not_modified' THEN body_bytes ELSE 0 END AS saved_bytes,
    false AS truncated,
    outcome = 'ok' AND is_changed AS stored,
    CASE
        WHEN outcome = 'ok' AND is_changed THEN web_digest(content)
        WHEN outcome IN ('ok', 'not_modified') THEN body_digest
    END AS body_digest,
    CASE
        WHEN outcome = 'ok' AND is_changed THEN turned_digest(web_digest(content), 8)
        WHEN outcome IN ('ok', 'not_modified') THEN text_digest
    END AS text_digest,
    CASE
        WHEN outcome = 'ok' AND is_changed THEN turned_digest(web_digest(content), 16)
        WHEN outcome IN ('ok', 'not_modified') THEN copy_digest
    END AS copy_digest,
    CASE WHEN outcome IN ('ok', 'not_modified') THEN coalesce(text_bytes, 800 + chance % 9000) END AS text_bytes,
    CASE
        WHEN outcome = 'ok' AND is_changed THEN hash(content, 'simhash')
        WHEN outcome IN ('ok', 'not_modified') THEN simhash
    END AS simhash,
    CASE WHEN outcome IN ('ok', 'not_modified') AND p.body_digest IS NOT NULL THEN is_changed END AS content_changed,
    CASE WHEN outcome IN ('ok', 'not_modified') AND p.body_digest IS NOT NULL THEN is_changed END AS counts_as_changed,
    NULL::TIMESTAMPTZ AS modified_at,
    modified_trusted,
    signalled,
    NULL::VARCHAR AS sitemap,
    CASE WHEN outcome = 'ok' THEN 'The page of ' || host || ', version ' || version END AS title,
    CASE WHEN outcome = 'ok' THEN 'en' END AS language,
    false AS noindex,
    false AS nofollow,
    false AS noarchive,
    NULL::VARCHAR AS redirect_url,
    CASE WHEN outcome = 'ok' AND pace = 3 THEN url END AS canonical_url,
    CASE WHEN outcome = 'ok' THEN 10 ELSE 0 END AS links,
    0 AS nofollow_links,
    NULL AS rejected_links,
    NULL AS dropped_parameters,
    NULL::DOUBLE AS retry_after_seconds,
    CASE WHEN outcome = 'server_error' THEN 'HTTP 503' END AS error
FROM drawn AS p
ORDER BY host_key, fetched_at, url_key
