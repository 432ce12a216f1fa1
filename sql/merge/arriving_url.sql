-- The arriving URLs of a merge that neither their shape nor scope stops.
-- Reads: candidate (the arriving URLs), verdict.
-- Grain: one row per URL.
SELECT c.url_key, c.pattern_key, c.host_key, c.host, c.url, c.depth
FROM candidate AS c
JOIN verdict USING (url_key)
WHERE c.trap IS NULL AND verdict.rejected_by IS NULL
