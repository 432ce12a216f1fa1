-- The pages with a main text that more pages of their host have than may: the rank of each among those with its text.
-- Reads: state_page, text_size.
-- Grain: one row per page.
SELECT
    p.url_key,
    p.host_key,
    p.host,
    row_number() OVER (PARTITION BY p.host_key, text_size.text ORDER BY p.depth, p.url_key) AS place
FROM state_page AS p
JOIN text_size ON text_size.host_key = p.host_key AND text_size.text = text_key(p.simhash, p.text_digest)
WHERE p.text_digest IS NOT NULL
