-- What rules of traps look at to count what they keep out of plans: every URL.
-- Reads: state_page.
-- Grain: one row per URL.
SELECT url_key, host_key, pattern_key, text_key(simhash, text_digest) AS text FROM state_page
