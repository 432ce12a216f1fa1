-- A plan as it is written: best first.
-- Reads: planned.
-- Grain: one row per URL, columns of plan.
FROM planned ORDER BY priority DESC, url_key
