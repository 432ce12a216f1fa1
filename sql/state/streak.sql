-- How many observations in a row, up to the last of the tail, were of the last one's kind.
-- Reads: tail_observation.
-- Grain: one row per URL. is_whole: no observation of the tail was of another kind, so that an earlier row goes on.
WITH told AS (
    SELECT
        url_key,
        log_position(epoch, sequence) AS position,
        outcome_kind(outcome) AS kind,
        arg_max(outcome_kind(outcome), log_position(epoch, sequence)) OVER (PARTITION BY url_key) AS last_kind
    FROM tail_observation
),
cut AS (
    SELECT *, max(position) FILTER (kind <> last_kind) OVER (PARTITION BY url_key) AS broken
    FROM told
)
SELECT
    url_key,
    any_value(last_kind) AS kind,
    count(*) FILTER (broken IS NULL OR position > broken) AS streak,
    bool_and(kind = last_kind) AS is_whole
FROM cut
GROUP BY url_key
