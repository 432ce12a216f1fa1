-- URLs of a bucket that links name for the first time: links of first copies, not nofollow, the shallowest of each. A link
-- within a host from a page whose text too many others there have counts only where there is no other, and is a trap.
-- Reads: link_files, span (per source bucket the epochs to read), copy_files, state_page, repeated_page.
-- Params: low_key, high_key: the bucket's host keys.
-- Grain: one row per URL.
WITH followed AS (
    SELECT l.*
    FROM link_files AS l
    JOIN span ON span.bucket = l.bucket AND l.epoch > span.after_epoch AND l.epoch <= span.upto_epoch
    WHERE l.target_host_key >= $low_key::UBIGINT AND l.target_host_key <= $high_key::UBIGINT AND NOT l.nofollow
),
copies AS (
    SELECT DISTINCT bucket, url_key, observed_epoch, observed_sequence FROM copy_files WHERE NOT is_first
),
kept AS (
    SELECT f.*, repeated_page.url_key IS NOT NULL AS is_repeated
    FROM followed AS f
    LEFT JOIN copies
        ON copies.bucket = f.bucket
        AND copies.url_key = f.source_url_key
        AND copies.observed_epoch = f.epoch
        AND copies.observed_sequence = f.sequence
    LEFT JOIN repeated_page
        ON repeated_page.url_key = f.source_url_key AND repeated_page.host_key = f.target_host_key
    WHERE copies.url_key IS NULL AND f.target_url_key NOT IN (SELECT url_key FROM state_page)
)
SELECT
    target_url_key AS url_key,
    target_host_key AS host_key,
    target_url AS url,
    target_fetch_url AS fetch_url,
    target_host AS host,
    target_pattern_key AS pattern_key,
    source_depth + 1 AS depth,
    source_hops + 1 AS hops,
    kind,
    source_url,
    CASE WHEN is_repeated THEN 'traps.max_urls_per_text' ELSE trap END AS trap,
    found_at
FROM kept
QUALIFY row_number() OVER (
    PARTITION BY target_url_key
    ORDER BY is_repeated, source_depth, source_hops, found_at, source_url, kind, target_fetch_url
) = 1
