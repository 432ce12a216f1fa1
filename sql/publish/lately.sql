-- What the tail of the log says of the URLs that were found or asked for, as far as their standing asks.
-- Reads: tail_url, tail_observation (rows from the checkpoint's epoch on).
-- Grain: one row per URL. is_found: the tail says where it is, so that it is known even if the checkpoint has it not.
WITH told AS (
    SELECT
        url_key, host_key, log_position(epoch, sequence) AS position, outcome, fetched_at, discovered IS NOT NULL AS is_found
    FROM tail_observation
    UNION ALL
    SELECT url_key, host_key, NULL, NULL, NULL, true FROM tail_url
)
SELECT
    url_key,
    any_value(host_key) AS host_key,
    bool_or(is_found) AS is_found,
    arg_max(outcome, position) AS outcome,
    count(*) FILTER (is_success(outcome)) AS fetches,
    arg_max(fetched_at, position) FILTER (is_success(outcome)) AS fetched_at
FROM told
GROUP BY url_key
