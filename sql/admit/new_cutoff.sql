-- The last new row that fits into the share of new URLs, and the bytes of those of its bin up to it.
-- Reads: plan_files.
-- Params: bin; room, how many new rows of the bin fit.
-- Grain: one row.
WITH fitting AS (
    SELECT priority, url_key, expected_bytes
    FROM plan_files
    WHERE reason = 'new' AND priority >> 6 = $bin
    ORDER BY priority DESC, url_key
    LIMIT $room
)
SELECT
    min(priority) AS priority,
    max(url_key) FILTER (priority = (SELECT min(priority) FROM fitting)) AS url_key,
    sum(expected_bytes)::UBIGINT AS bytes
FROM fitting
