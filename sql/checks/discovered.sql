-- fail: a bucket fetched more URLs that it found in the cycle than its share of the budget that the plans left.
-- Reads: cycle_observation, cycle_admitted.
-- Grain: one row per such bucket.
SELECT a.bucket, a.unspent, count(*) AS discovered
FROM cycle_observation AS o
JOIN cycle_admitted AS a USING (bucket)
WHERE o.discovered IS NOT NULL
GROUP BY a.bucket, a.unspent
HAVING count(*) > a.unspent
ORDER BY a.bucket
