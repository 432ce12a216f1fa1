-- What a bucket knows of every URL, as far as merges and rules of traps ask: the view page of state/page.sql in its narrow
-- columns, for which no wide one of the checkpoint is read.
-- Reads: base_page, overlay.
-- Grain: one row per URL.
SELECT
    base.url_key,
    base.host_key,
    base.host,
    base.url,
    base.pattern_key,
    base.depth,
    base.is_seed OR coalesce(overlay.is_seed, false) AS is_seed,
    CASE WHEN overlay.content IS NULL THEN base.text_digest ELSE overlay.content.text_digest END AS text_digest,
    CASE WHEN overlay.content IS NULL THEN base.simhash ELSE overlay.content.simhash END AS simhash,
    CASE WHEN overlay.url_key IS NULL THEN base.near_of ELSE overlay.near_of END AS near_of,
    base.is_sitemap OR coalesce(overlay.is_sitemap, false) AS is_sitemap,
    nullif(list_sort(list_distinct(list_concat(base.announced_by, overlay.announced_by))), []) AS announced_by,
    greatest(base.lastmod, overlay.lastmod) AS lastmod,
    coalesce(overlay.sitemap_priority, base.sitemap_priority) AS sitemap_priority
FROM base_page AS base
LEFT JOIN overlay USING (url_key)
UNION ALL
SELECT
    url_key,
    place.host_key,
    place.host,
    place.url,
    place.pattern_key,
    place.depth,
    is_seed,
    content.text_digest,
    content.simhash,
    near_of,
    is_sitemap,
    nullif(list_sort(list_distinct(announced_by)), []),
    lastmod,
    sitemap_priority
FROM overlay
WHERE is_new AND place IS NOT NULL
