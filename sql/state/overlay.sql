-- What the tail of the log makes of the URLs that it touches, as far as merges and rules of traps ask.
-- Reads: touched, found, near_label, mentioned, touched_page, tail_observation (rows from the checkpoint's epoch on).
-- Grain: one row per URL. content: NULL unless the tail brought some. is_new: the checkpoint does not know it.
WITH brought AS (
    SELECT
        url_key,
        arg_max({'text_digest': text_digest, 'simhash': simhash}, log_position(epoch, sequence))
            FILTER (outcome = 'ok' AND body_digest IS NOT NULL) AS content
    FROM tail_observation
    GROUP BY url_key
)
SELECT
    url_key,
    touched_page.url_key IS NULL AS is_new,
    found.place,
    coalesce(found.is_seed, false) AS is_seed,
    brought.content,
    near_label.near_of,
    coalesce(mentioned.is_sitemap, false) AS is_sitemap,
    mentioned.announced_by,
    mentioned.lastmod,
    mentioned.sitemap_priority
FROM touched
LEFT JOIN touched_page USING (url_key)
LEFT JOIN found USING (url_key)
LEFT JOIN brought USING (url_key)
LEFT JOIN near_label USING (url_key)
LEFT JOIN mentioned USING (url_key)
