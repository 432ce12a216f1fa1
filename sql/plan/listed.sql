-- The pages of a checkpoint that can be worth a floor until the next survey, and those that may come up whatever they are
-- worth: overdue ones, sitemaps and, where seeds are rechecked, seeds. What the tail of the log touches is read from there.
-- Reads: base_page, touched, scored (the whole bucket with a horizon).
-- Params: floor, seeds.
-- Grain: one row per page, columns of page.
FROM base_page
WHERE
    url_key NOT IN (SELECT url_key FROM touched)
    AND (($seeds AND is_seed) OR url_key IN (SELECT url_key FROM scored WHERE latest_priority >= $floor))
ORDER BY host_key, url_key
