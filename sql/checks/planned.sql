-- fail: a URL was asked for that the cycle neither admitted nor found.
-- Reads: cycle_observation, cycle_plan, cycle_admitted.
-- Grain: one row per such URL.
SELECT o.url, o.bucket
FROM cycle_observation AS o
LEFT JOIN (
    SELECT p.url_key
    FROM cycle_plan AS p
    JOIN cycle_admitted AS a USING (bucket)
    WHERE p.priority > a.cutoff_priority OR (p.priority = a.cutoff_priority AND p.url_key <= a.cutoff_url_key)
) AS admitted USING (url_key)
WHERE admitted.url_key IS NULL AND o.discovered IS NULL
ORDER BY o.url
