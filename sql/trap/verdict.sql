-- The verdict on each candidate of a plan, of scope and then of traps.
-- Reads: verdict, stopped.
-- Grain: one row per candidate; rejected_by is NULL for one that may be planned.
SELECT verdict.url_key, coalesce(verdict.rejected_by, stopped.rule) AS rejected_by
FROM verdict
LEFT JOIN stopped USING (url_key)
