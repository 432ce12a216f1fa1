-- The pages with a main text that more pages of their host have than may: the rank of each among those with its text.
-- Reads: trap_page, text_size.
-- Grain: one row per page.
SELECT
    url_key,
    host_key,
    row_number() OVER (PARTITION BY host_key, text ORDER BY depth, url_key) AS place
FROM trap_page
JOIN text_size USING (host_key, text)
