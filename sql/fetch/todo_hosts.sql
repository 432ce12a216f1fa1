-- The hosts that a fetch has to ask.
-- Reads: todo.
-- Grain: one row per host.
SELECT DISTINCT host FROM todo
