-- The text of every page that the tail of the log touches, as the fold of the state finds it, without the rest of the fold.
-- Reads: touched, near_label, touched_page, tail_observation (rows from the checkpoint's epoch on).
-- Grain: one row per URL. content: NULL if the tail brought none; then the checkpoint has it.
WITH asked AS (
    SELECT
        url_key,
        arg_max(outcome, log_position(epoch, sequence)) AS outcome,
        arg_max({'url': url, 'canonical_url': canonical_url, 'simhash': simhash}, log_position(epoch, sequence))
            FILTER (outcome = 'ok' AND body_digest IS NOT NULL) AS content
    FROM tail_observation
    GROUP BY url_key
)
SELECT
    touched.url_key,
    asked.content,
    CASE WHEN asked.content IS NULL THEN base.simhash ELSE asked.content.simhash END AS simhash,
    coalesce(asked.outcome, base.outcome) AS outcome,
    near_label.near_of
FROM touched
LEFT JOIN touched_page AS base USING (url_key)
LEFT JOIN asked USING (url_key)
LEFT JOIN near_label USING (url_key)
