-- What rules of traps keep out of plans of the URLs that a bucket knows.
-- Reads: state_page, host_size, pattern_size, path_size, repeated_page.
-- Params: max_urls_per_pattern, max_urls_per_text.
-- Grain: one row per rule, host and, where the rule is about one, path pattern.
SELECT
    'traps.max_query_combinations' AS rule,
    host,
    path_key << 20 AS pattern_key,
    urls - pages - greatest($max_urls_per_pattern - pages, 0) AS held,
    example
FROM path_size
WHERE held > 0
UNION ALL
SELECT 'traps.max_urls_per_pattern' AS rule, host, pattern_key, urls - pages - greatest(allowed - pages, 0) AS held, example
FROM pattern_size
WHERE held > 0
UNION ALL
SELECT 'traps.max_urls_per_text' AS rule, r.host, NULL AS pattern_key, count(*) AS held, min(p.url) AS example
FROM repeated_page AS r
JOIN state_page AS p USING (url_key)
WHERE r.place > $max_urls_per_text
GROUP BY r.host
UNION ALL
SELECT 'traps.max_barren_pages_per_host' AS rule, host, NULL AS pattern_key, urls - texts AS held, example
FROM host_size
