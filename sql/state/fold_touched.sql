-- The state of every touched URL: its checkpoint row with the tail of the log folded over it in (epoch, sequence) order.
-- Reads: touched, base_page, tail_url, tail_observation, tail_duplicate (rows from the checkpoint's epoch on).
-- Grain: one row per URL, columns of page.
WITH base AS (
    SELECT * FROM base_page WHERE url_key IN (SELECT url_key FROM touched)
),
found AS (
    SELECT
        url_key,
        arg_min(t, log_position(epoch, sequence)) AS first_row,
        bool_or(is_seed) AS is_seed
    FROM tail_url AS t
    GROUP BY url_key
),
placed AS (
    SELECT
        *,
        log_position(epoch, sequence) AS position,
        max(log_position(epoch, sequence)) FILTER (is_success(outcome)) OVER (PARTITION BY url_key) AS success_position
    FROM tail_observation
),
asked AS (
    SELECT
        url_key,
        arg_max(o, position) AS last_row,
        arg_max(o, position) FILTER (is_success(outcome)) AS success_row,
        arg_max(o, position) FILTER (outcome IN ('ok', 'not_modified') AND body_digest IS NOT NULL) AS valid_row,
        arg_max(o, position) FILTER (outcome = 'ok' AND body_digest IS NOT NULL) AS content_row,
        max(fetched_at) FILTER (outcome = 'ok' AND body_digest IS NOT NULL AND content_changed IS DISTINCT FROM false)
            AS changed_at,
        count(*) FILTER (is_success(outcome)) AS fetches,
        count(*) FILTER (content_changed) AS changes,
        count(*) FILTER (position > coalesce(success_position, 0)) AS streak
    FROM placed AS o
    GROUP BY url_key
),
marked AS (
    SELECT url_key, arg_max(d, log_position(epoch, sequence)) AS row
    FROM tail_duplicate AS d
    GROUP BY url_key
)
SELECT
    coalesce(base.bucket, found.first_row.bucket) AS bucket,
    touched.url_key,
    coalesce(base.host_key, found.first_row.host_key) AS host_key,
    coalesce(base.host, found.first_row.host) AS host,
    coalesce(base.url, found.first_row.url) AS url,
    coalesce(base.fetch_url, found.first_row.fetch_url) AS fetch_url,
    coalesce(base.pattern_key, found.first_row.pattern_key) AS pattern_key,
    coalesce(base.depth, found.first_row.depth) AS depth,
    coalesce(base.hops, found.first_row.hops) AS hops,
    coalesce(base.is_seed, false) OR coalesce(found.is_seed, false) AS is_seed,
    coalesce(base.discovered_at, found.first_row.discovered_at) AS discovered_at,
    coalesce(asked.last_row.outcome, base.outcome) AS outcome,
    CASE WHEN asked.url_key IS NULL THEN base.status ELSE asked.last_row.status END AS status,
    CASE
        WHEN asked.url_key IS NULL THEN coalesce(base.streak, 0)
        WHEN asked.success_row IS NULL THEN coalesce(base.streak, 0) + asked.streak
        ELSE asked.streak
    END AS streak,
    coalesce(asked.last_row.cycle, base.last_cycle) AS last_cycle,
    coalesce(asked.last_row.fetched_at, base.asked_at) AS asked_at,
    coalesce(asked.success_row.fetched_at, base.fetched_at) AS fetched_at,
    coalesce(asked.changed_at, base.changed_at) AS changed_at,
    coalesce(base.fetches, 0) + coalesce(asked.fetches, 0) AS fetches,
    coalesce(base.changes, 0) + coalesce(asked.changes, 0) AS changes,
    CASE WHEN asked.valid_row IS NULL THEN base.etag ELSE asked.valid_row.etag END AS etag,
    CASE WHEN asked.valid_row IS NULL THEN base.last_modified ELSE asked.valid_row.last_modified END AS last_modified,
    CASE WHEN asked.content_row IS NULL THEN base.body_digest ELSE asked.content_row.body_digest END AS body_digest,
    CASE WHEN asked.content_row IS NULL THEN base.text_digest ELSE asked.content_row.text_digest END AS text_digest,
    CASE WHEN asked.content_row IS NULL THEN base.copy_digest ELSE asked.content_row.copy_digest END AS copy_digest,
    CASE WHEN asked.content_row IS NULL THEN base.simhash ELSE asked.content_row.simhash END AS simhash,
    CASE WHEN asked.content_row IS NULL THEN base.text_bytes ELSE asked.content_row.text_bytes END AS text_bytes,
    CASE WHEN asked.content_row IS NULL THEN base.body_bytes ELSE asked.content_row.body_bytes END AS body_bytes,
    CASE WHEN asked.content_row IS NULL THEN base.title ELSE asked.content_row.title END AS title,
    CASE WHEN asked.content_row IS NULL THEN coalesce(base.noindex, false) ELSE asked.content_row.noindex END AS noindex,
    CASE WHEN asked.success_row IS NULL THEN base.redirect_url ELSE asked.success_row.redirect_url END AS redirect_url,
    CASE WHEN asked.content_row IS NULL THEN base.canonical_url ELSE asked.content_row.canonical_url END AS canonical_url,
    CASE
        WHEN marked.row.body_digest = coalesce(asked.content_row.body_digest, base.body_digest) THEN marked.row.first_url
        WHEN asked.content_row IS NULL OR asked.content_row.body_digest = base.body_digest THEN base.duplicate_of
    END AS duplicate_of,
    coalesce(asked.last_row.epoch, base.last_epoch, 0) AS last_epoch
FROM touched
LEFT JOIN base USING (url_key)
LEFT JOIN found USING (url_key)
LEFT JOIN asked USING (url_key)
LEFT JOIN marked USING (url_key)
WHERE base.url_key IS NOT NULL OR found.url_key IS NOT NULL
