-- fail: a URL has two observations in one cycle.
-- Reads: cycle_observation.
-- Grain: one row per such URL.
SELECT url, count(*) AS observations FROM cycle_observation GROUP BY url_key, url HAVING count(*) > 1 ORDER BY url
