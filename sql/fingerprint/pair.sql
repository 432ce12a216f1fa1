-- The pairs of an arrived SimHash and a comparable one that differ in at most k bits, each once; equal ones are a pair too.
-- Reads: found_pair (the same pair once for each key that both have).
-- Grain: one row per pair.
SELECT DISTINCT simhash, near_simhash, bit_count(xor(simhash, near_simhash))::UTINYINT AS distance FROM found_pair
