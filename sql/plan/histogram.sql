-- How many rows of a plan have which priority, in bins of 64, and the bytes that they are expected to bring.
-- Reads: planned.
-- Grain: one row per bin and whether its rows count against the share of new URLs.
SELECT priority >> 6 AS bin, reason = 'new' AS is_share, count(*) AS urls, sum(expected_bytes)::UBIGINT AS bytes
FROM planned
GROUP BY bin, is_share
ORDER BY bin DESC, is_share
