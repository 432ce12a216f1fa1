-- The text of every page that the tail of the log touches, as the fold of the state finds it, without the rest of the fold.
-- Reads: touched, near_label, base_page, tail_url, tail_observation (rows from the checkpoint's epoch on).
-- Grain: one row per URL.
WITH base AS (
    SELECT url_key, url, canonical_url, simhash, outcome
    FROM base_page
    WHERE url_key IN (SELECT url_key FROM touched)
),
asked AS (
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
    unnest(coalesce(asked.content, {'url': base.url, 'canonical_url': base.canonical_url, 'simhash': base.simhash})),
    coalesce(asked.outcome, base.outcome) AS outcome,
    near_label.near_of
FROM touched
LEFT JOIN base USING (url_key)
LEFT JOIN asked USING (url_key)
LEFT JOIN near_label USING (url_key)
WHERE base.url_key IS NOT NULL OR touched.url_key IN (SELECT url_key FROM tail_url)
