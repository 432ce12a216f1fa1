-- Every URL that a bucket knows, as a fetch has to know it to tell what is new.
-- Reads: base_page, tail_url, tail_observation (rows from the checkpoint's epoch on).
-- Grain: one row per URL and what makes it known.
SELECT url_key, host_key, pattern_key FROM base_page
UNION ALL
SELECT url_key, host_key, pattern_key FROM tail_url
UNION ALL
SELECT url_key, host_key, discovered.pattern_key FROM tail_observation WHERE discovered IS NOT NULL
