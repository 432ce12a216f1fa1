-- How many arriving URLs each rule stopped, and how many known ones a rule of traps keeps out of plans, with an example; of
-- what is purged no URL is shown. The pattern is written with digits and tokens folded, without values of parameters;
-- that of a path with all its queries ends with ?*.
-- Reads: judged, kept_out.
-- Params: cycle, bucket, epoch, sequence; counts_held, whether kept_out is of all URLs and not empty for want of a count.
-- Grain: one row per rule and, for rules of traps, host and pattern where the rule is about one; columns of rejected.
WITH stopped AS (
    SELECT
        rule,
        CASE WHEN rule LIKE 'traps.%' THEN host END AS host,
        CASE rule
            WHEN 'traps.max_urls_per_pattern' THEN pattern_key
            WHEN 'traps.max_query_combinations' THEN pattern_key >> 20 << 20
        END AS pattern_key,
        CASE WHEN rule = 'purge' THEN '' ELSE url END AS url
    FROM judged
    WHERE rule IS NOT NULL
),
counted AS (
    SELECT rule, host, pattern_key, count(*) AS urls, 0 AS held, min(url) AS example
    FROM stopped
    GROUP BY rule, host, pattern_key
    UNION ALL BY NAME
    SELECT rule, host, pattern_key, 0 AS urls, held, example FROM kept_out
),
summed AS (
    SELECT rule, host, pattern_key, sum(urls) AS urls, sum(held) AS held, min(example) AS example
    FROM counted
    GROUP BY rule, host, pattern_key
)
SELECT
    $cycle::DATE AS cycle, $bucket AS bucket, $epoch AS epoch, $sequence AS sequence,
    rule,
    host,
    CASE WHEN pattern_key IS NOT NULL THEN regexp_replace(
        regexp_replace(
            regexp_replace(
                regexp_extract(example, '^[a-z]+://[^/]+(/[^?]*[?]?)(.*)$', 1)
                || CASE WHEN rule = 'traps.max_query_combinations' THEN '*' ELSE split_part(example, '?', 2) END,
                '=[^&]*', '=', 'g'
            ),
            '[A-Za-z0-9]*[0-9][A-Za-z0-9]{15,}', '~', 'g'
        ),
        '[0-9]+', '0', 'g'
    ) END AS pattern,
    urls,
    CASE WHEN $counts_held THEN held END AS held,
    example
FROM summed
ORDER BY rule, host, pattern_key
