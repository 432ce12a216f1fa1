-- The near group of every touched URL that is in one. A label holds while the page has the SimHash that it is about: until
-- another comes, and not when it comes back. No label is about NULL.
-- Reads: touched, touched_page, tail_observation, tail_duplicate (rows from the checkpoint's epoch on).
-- Grain: one row per URL in a group.
WITH base AS (
    SELECT url_key, simhash, near_of, CASE WHEN simhash IS NOT NULL THEN {'simhash': simhash} END AS held
    FROM touched_page
),
brought AS (
    SELECT
        o.url_key,
        log_position(o.epoch, o.sequence) AS position,
        {'simhash': o.simhash} AS brought,
        coalesce(lag(brought) OVER (PARTITION BY o.url_key ORDER BY position), base.held) AS held
    FROM tail_observation AS o
    LEFT JOIN base USING (url_key)
    WHERE o.outcome = 'ok' AND o.body_digest IS NOT NULL
),
content AS (
    SELECT
        url_key,
        arg_max(brought, position) AS newest,
        max(position) FILTER (brought IS DISTINCT FROM held) AS changed_position
    FROM brought
    GROUP BY url_key
),
marked AS (
    SELECT d.url_key, arg_max(d.near_of, log_position(d.epoch, d.sequence)) AS near_of
    FROM tail_duplicate AS d
    LEFT JOIN base USING (url_key)
    LEFT JOIN content USING (url_key)
    WHERE
        d.near_of IS NOT NULL
        AND d.simhash = coalesce(content.newest, base.held).simhash
        AND log_position(d.epoch, d.sequence) > coalesce(content.changed_position, 0)
    GROUP BY d.url_key
)
SELECT
    touched.url_key,
    coalesce(marked.near_of, CASE WHEN content.changed_position IS NULL THEN base.near_of END) AS near_of
FROM touched
LEFT JOIN base USING (url_key)
LEFT JOIN content USING (url_key)
LEFT JOIN marked USING (url_key)
WHERE marked.near_of IS NOT NULL OR (content.changed_position IS NULL AND base.near_of IS NOT NULL)
