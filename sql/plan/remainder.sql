-- The remainder of a plan: what its file left out below its floor.
-- Reads: planned (chosen again with nothing left out), plan_files (the file of the plan).
-- Params: floor.
-- Grain: one row per URL, columns of plan.
FROM planned
WHERE priority < $floor AND url_key NOT IN (SELECT url_key FROM plan_files)
