-- The hosts with so many URLs that a fetch finds no more there.
-- Reads: known.
-- Params: most, how many those are.
-- Grain: one row per host.
SELECT host_key FROM known GROUP BY host_key HAVING count(*) >= $most
