-- How old are our copies of the live pages, at the newest observation of all?
-- Reads: page, observation.
-- Grain: one row per age of whole days; the last holds all that is older.
WITH aged AS (
    SELECT
        least(floor((epoch(newest.ended_at) - epoch(page.fetched_at)) / 86400)::INTEGER, 30) AS days,
        page.changes
    FROM page
    CROSS JOIN (SELECT max(ended_at) AS ended_at FROM observation) AS newest
    WHERE page.outcome IN ('ok', 'not_modified')
)
SELECT
    CASE WHEN days < 30 THEN days || ' to ' || days + 1 ELSE '30 and more' END AS age_days,
    count(*) AS live_urls,
    round(100 * count(*) / sum(count(*)) OVER (), 1) AS percent,
    round(100 * sum(count(*)) OVER (ORDER BY days) / sum(count(*)) OVER (), 1) AS percent_up_to_here,
    count(*) FILTER (changes > 0) AS seen_to_change
FROM aged
GROUP BY days
ORDER BY days
