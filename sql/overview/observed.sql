-- How many planned URLs each cycle has asked for in each bucket, and how many of them late.
-- Reads: observation_files.
-- Grain: one row per cycle and bucket.
SELECT cycle::VARCHAR AS cycle, bucket, count(*) AS observed, count(*) FILTER (late) AS late
FROM observation_files
WHERE discovered IS NULL
GROUP BY cycle, bucket
ORDER BY cycle, bucket
