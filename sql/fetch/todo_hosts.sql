-- The hosts that a fetch has to ask.
-- Reads: planned (a host for each URL).
-- Grain: one row per host.
SELECT DISTINCT host FROM planned
