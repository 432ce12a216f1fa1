-- The candidate table as it is written: what is in first, then the best.
-- Reads: choice.
-- Grain: one row per URL.
FROM choice ORDER BY is_in DESC, priority DESC, url_key
