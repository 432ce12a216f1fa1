-- What rules of traps look at in a plan: its candidates, with the place and the text of each. A page's text is NULL until it
-- was read.
-- Reads: candidate, state_page.
-- Grain: one row per URL.
SELECT
    url_key,
    host_key,
    pattern_key,
    depth,
    streak,
    is_seed,
    text_digest IS NOT NULL AS is_page,
    text_key(simhash, text_digest) AS text
FROM state_page
WHERE url_key IN (SELECT url_key FROM candidate)
