-- The checks that were made before a replay begins.
-- Reads: checked.
-- Params: since.
-- Grain: one row per check.
SELECT * FROM checked WHERE fetched_at <= $since::TIMESTAMPTZ
