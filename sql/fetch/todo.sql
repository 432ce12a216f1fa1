-- What a fetch has to ask for: admitted rows without a valid observation since the plan was made.
-- Reads: plan_files, observed, purged_url, purged_host.
-- Params: cutoff_priority, cutoff_url_key, new_cutoff_priority, new_cutoff_url_key; planned_epoch, the last epoch that the plan knew.
-- Grain: one row per URL, a host's together and best first, the hosts in the order of their best planned one.
-- fetch_url is NULL where it is url.
SELECT
    url_key, host_key, url, nullif(fetch_url, url) AS fetch_url, host, priority, depth, hops, etag, last_modified,
    body_digest, text_digest, copy_digest, simhash, text_bytes, body_bytes, is_sitemap, announced_by,
    signalled, modified_trusted, noisy
FROM plan_files
JOIN (SELECT host_key, max(priority) AS best_priority FROM plan_files GROUP BY host_key) USING (host_key)
WHERE
    is_within(priority, url_key, $cutoff_priority, $cutoff_url_key::UBIGINT)
    AND (reason <> 'new' OR is_within(priority, url_key, $new_cutoff_priority, $new_cutoff_url_key::UBIGINT))
    AND url_key NOT IN (SELECT url_key FROM observed WHERE epoch > $planned_epoch)
    AND url_key NOT IN (SELECT url_key FROM purged_url)
    AND host NOT IN (SELECT host FROM purged_host)
ORDER BY best_priority DESC, host_key, priority DESC, url_key
