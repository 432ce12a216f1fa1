-- How many rows of a plan have which priority, in bins of 64.
-- Reads: planned.
-- Grain: one row per bin.
SELECT priority >> 6 AS bin, count(*) AS urls FROM planned GROUP BY bin ORDER BY bin DESC
