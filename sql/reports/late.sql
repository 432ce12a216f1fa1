-- Which cycles were completed late, and how late?
-- Reads: observation.
-- Grain: one row per cycle with a late observation.
SELECT
    cycle,
    count(*) FILTER (late) AS late,
    count(*) AS observations,
    min(fetched_at) FILTER (late) AS first_late_at,
    max(fetched_at) FILTER (late) AS last_late_at,
    round(max(epoch(fetched_at) - epoch((cycle + INTERVAL 1 DAY)::TIMESTAMP)) FILTER (late) / 3600, 1) AS most_hours_late
FROM observation
GROUP BY cycle
HAVING count(*) FILTER (late) > 0
ORDER BY cycle
