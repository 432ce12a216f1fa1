-- How the pages of a bucket are shared among its hosts, the same in every bucket: Zipf's law with an offset, so that the
-- largest of many hosts have some thousand pages and the mean is as asked.
-- Params: urls, hosts: of a bucket.
-- Grain: one row per host, by rank; start: pages of the ranks before.
WITH weighted AS (
    SELECT host_rank, 1e0 / (host_rank + 1 + $hosts / 5e1) AS weight FROM range($hosts::BIGINT) AS r (host_rank)
),
summed AS (
    SELECT host_rank, sum(weight) OVER (ORDER BY host_rank) / sum(weight) OVER () AS upto FROM weighted
)
SELECT
    host_rank,
    coalesce(lag(round(upto * $urls)::BIGINT) OVER (ORDER BY host_rank), 0) AS start,
    round(upto * $urls)::BIGINT - start AS size
FROM summed
ORDER BY host_rank
