-- The pairs of an arrived SimHash and a likely one that differ in at most k bits, each once; equal ones are a pair too.
-- Reads: sought, likely.
-- Params: max_distance, the k.
-- Grain: one row per pair.
WITH known AS (
    SELECT block.number, likely.simhash & block.mask AS key, likely.simhash
    FROM likely
    CROSS JOIN simhash_block($max_distance) AS block
)
SELECT DISTINCT
    sought.simhash,
    known.simhash AS near_simhash,
    bit_count(xor(sought.simhash, known.simhash))::UTINYINT AS distance
FROM known
JOIN sought ON sought.number = known.number AND sought.key = known.key
WHERE bit_count(xor(sought.simhash, known.simhash)) <= $max_distance
