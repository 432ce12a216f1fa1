-- What rules of traps ask of every URL, read from the state once: where it is and, by numbers, what it brought.
-- Reads: state_page.
-- Grain: one row per URL. text: NULL for a page that was never read. is_near: its text is nothing new on its host.
SELECT
    url_key,
    host_key,
    pattern_key,
    depth,
    is_seed,
    CASE WHEN text_digest IS NOT NULL THEN text_key(simhash, text_digest) END AS text,
    is_near_on_host(near_of, host) AS is_near
FROM state_page
