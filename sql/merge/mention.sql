-- What links and sitemaps newly say of a bucket's URLs: pages that link to them for the first time, a later lastmod, another
-- priority, that they are sitemaps, and of which hosts. Of URLs that stay unknown nothing is kept.
-- Reads: followed_link, seen, judged, state_page (of those of which more is said than that pages link to them).
-- Params: cycle, bucket, epoch, sequence.
-- Grain: one row per URL, columns of mention.
WITH said AS (
    SELECT
        target_url_key AS url_key,
        min(target_url) AS url,
        count(DISTINCT source_url_key) FILTER (
            is_first AND source_url_key <> target_url_key
            AND kind NOT IN ('redirect', 'canonical', 'feed', 'sitemap', 'index', 'robots', 'settings')
        ) AS inlinks,
        max(lastmod) AS lastmod,
        arg_max(priority, (found_at, source_url)) AS sitemap_priority,
        bool_or(kind IN ('settings', 'robots', 'index', 'feed')) AS is_sitemap,
        flatten(list(announced_by) FILTER (announced_by IS NOT NULL)) AS announced_by
    FROM followed_link
    GROUP BY target_url_key
),
told AS (
    SELECT url_key, is_sitemap, announced_by, lastmod, sitemap_priority
    FROM state_page
    WHERE url_key IN (
        SELECT url_key
        FROM said
        WHERE is_sitemap OR announced_by IS NOT NULL OR lastmod IS NOT NULL OR sitemap_priority IS NOT NULL
    )
),
known AS (
    SELECT url_key, coalesce(is_sitemap, false) AS is_sitemap, announced_by, lastmod, sitemap_priority
    FROM seen
    LEFT JOIN told USING (url_key)
    UNION ALL
    SELECT url_key, false, NULL, NULL, NULL
    FROM judged
    WHERE rule IS NULL
)
SELECT
    $cycle::DATE AS cycle,
    $bucket AS bucket,
    $epoch AS epoch,
    $sequence AS sequence,
    known.url_key,
    said.url,
    said.inlinks,
    CASE WHEN said.lastmod > known.lastmod OR known.lastmod IS NULL THEN said.lastmod END AS lastmod,
    said.sitemap_priority,
    said.is_sitemap,
    list_sort(list_distinct(said.announced_by)) AS announced_by
FROM known
JOIN said USING (url_key)
WHERE
    said.inlinks > 0
    OR said.lastmod > known.lastmod
    OR (said.lastmod IS NOT NULL AND known.lastmod IS NULL)
    OR said.sitemap_priority <> coalesce(known.sitemap_priority, -1)
    OR (said.is_sitemap AND NOT known.is_sitemap)
    OR NOT list_has_all(coalesce(known.announced_by, []), coalesce(said.announced_by, []))
ORDER BY known.url_key
