-- How many admitted URLs of a bucket's plan have no valid observation since, of whatever cycle.
-- Reads: plan_files, observed, purged_url, purged_host.
-- Params: cutoff_priority, cutoff_url_key; planned_epoch, the last epoch that the plan knew.
-- Grain: one row.
SELECT count(*) AS open_urls
FROM plan_files
WHERE
    (priority > $cutoff_priority OR (priority = $cutoff_priority AND url_key <= $cutoff_url_key::UBIGINT))
    AND url_key NOT IN (SELECT url_key FROM observed WHERE epoch > $planned_epoch)
    AND url_key NOT IN (SELECT url_key FROM purged_url)
    AND host NOT IN (SELECT host FROM purged_host)
