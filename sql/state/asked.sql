-- What the tail of the log says of the URLs that were asked for: the last outcome, the last success, the last content.
-- Reads: tail_observation (rows from the checkpoint's epoch on), touched_page.
-- Grain: one row per URL. body_position: where the body that it now has arrived, NULL if it has had it before.
WITH placed AS (
    SELECT
        o.*,
        log_position(o.epoch, o.sequence) AS position,
        o.outcome = 'ok' AND o.body_digest IS NOT NULL AS has_content,
        CASE WHEN has_content THEN o.body_digest END AS brought,
        coalesce(lag(brought IGNORE NULLS) OVER (PARTITION BY o.url_key ORDER BY position), base.body_digest) AS held
    FROM tail_observation AS o
    LEFT JOIN touched_page AS base USING (url_key)
)
SELECT
    url_key,
    arg_max(
        {
            'outcome': outcome,
            'status': status,
            'robots_digest': CASE WHEN outcome = 'denied_by_robots' THEN robots_digest END,
            'cycle': cycle,
            'fetched_at': fetched_at,
            'epoch': epoch
        },
        position
    ) AS last,
    arg_max({'fetched_at': fetched_at, 'redirect_url': redirect_url}, position) FILTER (is_success(outcome)) AS success,
    arg_max({'etag': etag, 'last_modified': last_modified}, position)
        FILTER (has_content OR (outcome = 'not_modified' AND body_digest IS NOT NULL)) AS validators,
    arg_max(page_content(o), position) FILTER (has_content) AS content,
    max(position) FILTER (brought IS DISTINCT FROM held AND has_content) AS body_position,
    max(fetched_at) FILTER (has_content AND content_changed IS DISTINCT FROM false) AS changed_at,
    count(*) FILTER (is_success(outcome)) AS fetches,
    count(*) FILTER (content_changed) AS changes
FROM placed AS o
GROUP BY url_key
