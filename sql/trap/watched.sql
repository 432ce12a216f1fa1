-- What rules of traps look at in a plan: its candidates.
-- Reads: candidate.
-- Grain: one row per URL.
SELECT url_key, host_key, pattern_key, depth, is_seed, text, streak FROM candidate
