-- How many due URLs have which priority, in bins of 64.
-- Reads: scored.
-- Grain: one row per bin, the best first.
SELECT
    priority >> 6 AS bin,
    count(*) FILTER (NOT is_new) AS known,
    count(*) FILTER (is_new) AS new
FROM scored
WHERE is_due
GROUP BY bin
ORDER BY bin DESC
