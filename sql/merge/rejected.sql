-- How many arriving URLs each rule stopped, with an example; of what is purged no URL is shown.
-- Reads: judged.
-- Params: cycle, bucket, epoch, sequence.
-- Grain: one row per rule, columns of rejected.
SELECT
    $cycle::DATE AS cycle, $bucket AS bucket, $epoch AS epoch, $sequence AS sequence,
    rule, count(*) AS urls, min(CASE WHEN rule = 'purge' THEN '' ELSE url END) AS example
FROM judged
WHERE rule IS NOT NULL
GROUP BY rule
ORDER BY rule
