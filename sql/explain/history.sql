-- Every observation of a URL, oldest first.
-- Reads: observation_files.
-- Params: url_key.
-- Grain: one row per observation.
SELECT cycle::VARCHAR AS cycle, fetched_at, outcome, status, content_changed, late, body_bytes, wire_bytes, epoch, error
FROM observation_files
WHERE url_key = $url_key::UBIGINT
ORDER BY epoch, sequence, fetched_at
