-- The copies with which every policy of a replay begins.
-- Reads: replayed_start.
-- Grain: one row per URL.
FROM replayed_start
