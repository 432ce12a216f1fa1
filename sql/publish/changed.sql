-- The newest pages of a cycle whose content had changed.
-- Reads: observation.
-- Params: cycle.
-- Grain: one row per page, at most ten.
SELECT url, title, fetched_at
FROM observation
WHERE cycle = $cycle::DATE AND content_changed
ORDER BY fetched_at DESC, url
LIMIT 10
