-- What the operator's rules say of the URLs that they match: weights multiply, the first interval wins.
-- Reads: ready_page, weight_rule, interval_rule (per host in order, with patterns of path and query).
-- Grain: one row per URL that a rule matches; NULL where no rule says anything.
WITH split AS (
    SELECT
        url_key,
        host,
        depth,
        inlinks,
        coalesce(sitemap_priority, 5e-1) AS sitemap_priority,
        regexp_extract(url, '^[a-z]+://[^/?]*(/.*)$', 1) AS path
    FROM ready_page
    WHERE host IN (SELECT host FROM weight_rule UNION SELECT host FROM interval_rule)
),
weighed AS (
    SELECT
        split.url_key,
        -- One after the other, since a product of what threads have multiplied apart is not reproducible.
        list_reduce(list(rule.weight ORDER BY rule.ordinal), lambda one, other: one * other) AS weight
    FROM split
    JOIN weight_rule AS rule ON rule.host = split.host
    WHERE
        regexp_matches(split.path, rule.pattern)
        AND split.depth BETWEEN rule.min_depth AND rule.max_depth
        AND split.sitemap_priority >= rule.min_sitemap_priority
        AND split.inlinks >= rule.min_inlinks
    GROUP BY split.url_key
),
bounded AS (
    SELECT
        split.url_key,
        arg_min({'least': rule.min_days, 'most': rule.max_days}, rule.ordinal) AS days
    FROM split
    JOIN interval_rule AS rule ON rule.host = split.host
    WHERE regexp_matches(split.path, rule.pattern)
    GROUP BY split.url_key
)
SELECT url_key, weighed.weight, bounded.days.least AS min_interval_days, bounded.days.most AS max_interval_days
FROM weighed
FULL JOIN bounded USING (url_key)
