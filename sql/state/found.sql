-- Where the tail of the log first says that a URL is: URLs that a seed, a merge or a fetch made known.
-- Reads: tail_url, tail_observation (rows from the checkpoint's epoch on).
-- Grain: one row per URL.
SELECT url_key, bool_or(is_seed) AS is_seed, arg_min(place, position) AS place
FROM (
    SELECT url_key, is_seed, page_place(t) AS place, log_position(epoch, sequence) AS position FROM tail_url AS t
    UNION ALL
    SELECT url_key, false, discovered_place(o), log_position(epoch, sequence)
    FROM tail_observation AS o
    WHERE discovered IS NOT NULL
)
GROUP BY url_key
