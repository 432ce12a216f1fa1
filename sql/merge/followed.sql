-- The links to a bucket that a merge follows: of the epochs that it reads, not nofollow, of first copies only, and those of settings. A
-- sitemap is no copy of another, since each may list only URLs of its own host.
-- Reads: link_files, span (per source bucket the epochs to read), copy_files, given_link (sitemaps that settings name).
-- Params: low_key, high_key: the bucket's host keys.
-- Grain: one row per link.
SELECT
    l.source_url_key, l.source_url, l.source_depth, l.source_hops, l.kind,
    l.target_url_key, l.target_host_key, l.target_url, l.target_fetch_url, l.target_host, l.target_pattern_key,
    l.trap, l.is_first, l.lastmod, l.priority, l.announced_by, l.found_at
FROM link_files AS l
JOIN span ON span.bucket = l.bucket AND l.epoch > span.after_epoch AND l.epoch <= span.upto_epoch
LEFT JOIN (SELECT DISTINCT bucket, url_key, observed_epoch, observed_sequence FROM copy_files WHERE NOT is_first) AS copies
    ON copies.bucket = l.bucket
    AND copies.url_key = l.source_url_key
    AND copies.observed_epoch = l.epoch
    AND copies.observed_sequence = l.sequence
WHERE
    l.target_host_key >= $low_key::UBIGINT
    AND l.target_host_key <= $high_key::UBIGINT
    AND NOT l.nofollow
    AND (copies.url_key IS NULL OR l.kind IN ('sitemap', 'index'))
UNION ALL BY NAME
SELECT
    source_url_key, source_url, source_depth, source_hops, kind,
    target_url_key, target_host_key, target_url, target_fetch_url, target_host, target_pattern_key,
    trap, is_first, lastmod, priority, announced_by, found_at
FROM given_link
