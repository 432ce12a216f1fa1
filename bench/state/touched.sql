-- How many URLs' states the rows of a cycle touch.
-- Reads: cycle_url, cycle_observation, cycle_duplicate, cycle_mention.
-- Grain: one row.
SELECT count(*) FROM (
    SELECT bucket, url_key FROM cycle_url
    UNION
    SELECT bucket, url_key FROM cycle_observation
    UNION
    SELECT bucket, url_key FROM cycle_duplicate
    UNION
    SELECT bucket, url_key FROM cycle_mention
)
