-- The keys of the SimHashes that arrived. Of a key that more than $most_alike share only the first so many are looked up
-- by it; the others are found by their other keys, or missed.
-- Reads: arrived.
-- Params: most_alike; max_distance, the k.
-- Grain: one row per SimHash and pair of blocks.
WITH keyed AS MATERIALIZED (
    SELECT block.number, arrived.simhash & block.mask AS key, arrived.simhash
    FROM (SELECT DISTINCT simhash FROM arrived) AS arrived
    CROSS JOIN simhash_block($max_distance) AS block
),
hot AS (
    SELECT number, key FROM keyed GROUP BY number, key HAVING count(*) > $most_alike
)
SELECT number, key, simhash FROM keyed ANTI JOIN hot USING (number, key)
UNION ALL
SELECT number, key, simhash
FROM keyed
SEMI JOIN hot USING (number, key)
QUALIFY row_number() OVER (PARTITION BY number, key ORDER BY simhash) <= $most_alike
