-- Links to known URLs, drawn at random, and a tenth as many to others.
-- Reads: state_page.
-- Params: links, keys.
-- Grain: one row per link, those columns of link that the seen check reads.
SELECT url_key AS target_url_key, hash(url_key) AS source_url_key
FROM state_page
WHERE hash(url_key, 'link') % 1000000 < 900000 * $links::BIGINT // $keys
UNION ALL
SELECT hash(number, 'unseen') AS target_url_key, number::UBIGINT AS source_url_key
FROM range($links // 10) AS r (number)
