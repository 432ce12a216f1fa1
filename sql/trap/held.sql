-- What rules of traps keep out of plans of the URLs that a bucket knows.
-- Reads: state_page (for examples), host_size, pattern_size, path_size, repeated_page.
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
SELECT
    'traps.max_urls_per_pattern' AS rule,
    any_value(p.host) AS host,
    s.pattern_key,
    any_value(s.urls - s.pages - greatest(s.allowed - s.pages, 0)) AS held,
    min(p.url) FILTER (p.text_digest IS NULL) AS example
FROM pattern_size AS s
JOIN state_page AS p ON p.pattern_key = s.pattern_key AND NOT p.is_seed
WHERE s.urls - s.pages > greatest(s.allowed - s.pages, 0)
GROUP BY s.pattern_key
UNION ALL
SELECT 'traps.max_urls_per_text' AS rule, p.host, NULL AS pattern_key, count(*) AS held, min(p.url) AS example
FROM repeated_page AS r
JOIN state_page AS p USING (url_key)
WHERE r.place > $max_urls_per_text
GROUP BY p.host
UNION ALL
SELECT 'traps.max_barren_pages_per_host' AS rule, host, NULL AS pattern_key, urls - texts AS held, example
FROM host_size
