-- The path patterns that hold more than half of the URLs which are fetched on trust.
-- Reads: known.
-- Params: most, how many those are.
-- Grain: one row per pattern, or path with combinations of parameters.
SELECT place_of(pattern_key) AS place, count(*) AS urls
FROM known
GROUP BY place
HAVING count(*) > $most // 2
