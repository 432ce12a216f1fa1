-- What do sitemaps and feeds bring, and are their dates true? Entries that are unknown are out of scope or stopped by a rule.
-- Reads: page, link, observation.
-- Grain: one row per sitemap, most entries first, at most fifty. signals: fetches of its host's pages after a new lastmod.
WITH entry AS (
    SELECT source_url_key, target_url_key, max(lastmod) AS lastmod
    FROM link
    WHERE kind IN ('sitemap', 'index')
    GROUP BY source_url_key, target_url_key
),
counted AS (
    SELECT
        source_url_key,
        count(*) AS entries,
        count(page.url_key) AS known,
        count(*) FILTER (page.fetches > 0) AS fetched,
        round(100 * avg((entry.lastmod IS NOT NULL)::INTEGER), 1) AS percent_dated
    FROM entry
    LEFT JOIN page ON page.url_key = entry.target_url_key
    GROUP BY source_url_key
),
kinds AS (
    SELECT url_key, arg_max(sitemap, (fetched_at, sitemap)) AS kind
    FROM observation
    WHERE sitemap IS NOT NULL
    GROUP BY url_key
),
signals AS (
    SELECT host_key, count(*) AS signals, count(*) FILTER (content_changed) AS hits
    FROM observation
    WHERE signalled AND content_changed IS NOT NULL
    GROUP BY host_key
)
SELECT
    page.url,
    kinds.kind,
    page.outcome,
    page.asked_at,
    page.changed_at,
    coalesce(counted.entries, 0) AS entries,
    coalesce(counted.known, 0) AS known,
    coalesce(counted.fetched, 0) AS fetched,
    counted.percent_dated,
    coalesce(signals.signals, 0) AS signals,
    round(100 * signals.hits / signals.signals, 1) AS percent_true,
    list_aggregate(page.announced_by, 'string_agg', ' ') AS announced_by
FROM page
LEFT JOIN counted ON counted.source_url_key = page.url_key
LEFT JOIN kinds ON kinds.url_key = page.url_key
LEFT JOIN signals ON signals.host_key = page.host_key
WHERE page.is_sitemap OR kinds.kind IS NOT NULL
ORDER BY entries DESC, page.url
LIMIT 50
