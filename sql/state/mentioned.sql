-- What links and sitemaps in the tail of the log say of a bucket's URLs.
-- Reads: tail_mention.
-- Grain: one row per URL.
SELECT
    url_key,
    sum(inlinks)::UINTEGER AS inlinks,
    max(lastmod) AS lastmod,
    arg_max(sitemap_priority, log_position(epoch, sequence)) AS sitemap_priority,
    bool_or(is_sitemap) AS is_sitemap,
    flatten(list(announced_by)) AS announced_by
FROM tail_mention
GROUP BY url_key
