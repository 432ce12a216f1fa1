-- The links that a merge follows: of the epochs that it reads, not nofollow, of first copies only, and those of settings. A
-- sitemap is no copy of another, since each may list only URLs of its own host.
-- Reads: link_files, span (per source bucket the epochs to read), copy_files, given_link (sitemaps that settings name).
-- Grain: one row per link, columns of link.
SELECT l.*
FROM link_files AS l
JOIN span ON span.bucket = l.bucket AND l.epoch > span.after_epoch AND l.epoch <= span.upto_epoch
LEFT JOIN (SELECT DISTINCT bucket, url_key, observed_epoch, observed_sequence FROM copy_files WHERE NOT is_first) AS copies
    ON copies.bucket = l.bucket
    AND copies.url_key = l.source_url_key
    AND copies.observed_epoch = l.epoch
    AND copies.observed_sequence = l.sequence
WHERE NOT l.nofollow AND (copies.url_key IS NULL OR l.kind IN ('sitemap', 'index'))
UNION ALL BY NAME
FROM given_link
