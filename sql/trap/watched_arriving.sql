-- What rules of traps look at in a merge: the patterns and hosts of the URLs that arrive.
-- Reads: arriving_url.
-- Grain: one row per URL.
SELECT url_key, host_key, pattern_key FROM arriving_url
