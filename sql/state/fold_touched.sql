-- The state of every touched URL: its checkpoint row with the tail of the log folded over it in (epoch, sequence) order.
-- Reads: touched, near_label, base_page, tail_url, tail_observation, tail_duplicate, tail_mention (rows from the checkpoint's epoch on).
-- Grain: one row per URL, columns of page.
WITH base AS (
    SELECT *, page_place(p) AS place, page_content(p) AS content
    FROM base_page AS p
    WHERE url_key IN (SELECT url_key FROM touched)
),
found AS (
    SELECT
        url_key,
        bool_or(is_seed) AS is_seed,
        arg_min(page_place(t), log_position(epoch, sequence)) AS place
    FROM tail_url AS t
    GROUP BY url_key
),
placed AS (
    SELECT
        o.*,
        log_position(o.epoch, o.sequence) AS position,
        o.outcome = 'ok' AND o.body_digest IS NOT NULL AS has_content,
        max(position) FILTER (is_success(o.outcome)) OVER (PARTITION BY o.url_key) AS success_position,
        CASE WHEN has_content THEN o.body_digest END AS brought,
        coalesce(lag(brought IGNORE NULLS) OVER (PARTITION BY o.url_key ORDER BY position), base.body_digest) AS held
    FROM tail_observation AS o
    LEFT JOIN base USING (url_key)
),
asked AS (
    SELECT
        url_key,
        arg_max(o, position) AS last,
        arg_max(o, position) FILTER (is_success(outcome)) AS success,
        arg_max({'etag': etag, 'last_modified': last_modified}, position)
            FILTER (has_content OR (outcome = 'not_modified' AND body_digest IS NOT NULL)) AS validators,
        arg_max(page_content(o), position) FILTER (has_content) AS content,
        max(position) FILTER (brought IS DISTINCT FROM held AND has_content) AS body_position,
        max(fetched_at) FILTER (has_content AND content_changed IS DISTINCT FROM false) AS changed_at,
        count(*) FILTER (is_success(outcome)) AS fetches,
        count(*) FILTER (content_changed) AS changes,
        count(*) FILTER (position > coalesce(success_position, 0)) AS streak
    FROM placed AS o
    GROUP BY url_key
),
marked AS (
    -- What a merge says of a body holds while the page has that body: until another comes, and not when it comes back.
    SELECT d.url_key, arg_max(d.first_url, log_position(d.epoch, d.sequence)) AS first_url
    FROM tail_duplicate AS d
    LEFT JOIN base USING (url_key)
    LEFT JOIN asked USING (url_key)
    WHERE
        d.body_digest = coalesce(asked.content.body_digest, base.body_digest)
        AND log_position(d.epoch, d.sequence) > coalesce(asked.body_position, 0)
    GROUP BY d.url_key
),
mentioned AS (
    SELECT
        url_key,
        sum(inlinks)::UINTEGER AS inlinks,
        max(lastmod) AS lastmod,
        arg_max(sitemap_priority, log_position(epoch, sequence)) AS sitemap_priority,
        bool_or(is_sitemap) AS is_sitemap,
        flatten(list(announced_by)) AS announced_by
    FROM tail_mention
    GROUP BY url_key
)
SELECT
    touched.url_key,
    unnest(coalesce(base.place, found.place)),
    coalesce(base.is_seed, false) OR coalesce(found.is_seed, false) AS is_seed,
    coalesce(base.is_sitemap, false) OR coalesce(mentioned.is_sitemap, false) AS is_sitemap,
    nullif(list_sort(list_distinct(list_concat(base.announced_by, mentioned.announced_by))), []) AS announced_by,
    coalesce(base.inlinks, 0) + coalesce(mentioned.inlinks, 0) AS inlinks,
    greatest(base.lastmod, mentioned.lastmod) AS lastmod,
    coalesce(mentioned.sitemap_priority, base.sitemap_priority) AS sitemap_priority,
    coalesce(asked.last.outcome, base.outcome) AS outcome,
    CASE WHEN asked.last IS NULL THEN base.status ELSE asked.last.status END AS status,
    CASE WHEN asked.success IS NULL THEN coalesce(base.streak, 0) ELSE 0 END + coalesce(asked.streak, 0) AS streak,
    coalesce(asked.last.cycle, base.last_cycle) AS last_cycle,
    coalesce(asked.last.fetched_at, base.asked_at) AS asked_at,
    coalesce(asked.success.fetched_at, base.fetched_at) AS fetched_at,
    coalesce(asked.changed_at, base.changed_at) AS changed_at,
    coalesce(base.fetches, 0) + coalesce(asked.fetches, 0) AS fetches,
    coalesce(base.changes, 0) + coalesce(asked.changes, 0) AS changes,
    unnest(coalesce(asked.validators, {'etag': base.etag, 'last_modified': base.last_modified})),
    unnest(coalesce(asked.content, base.content)),
    CASE WHEN asked.success IS NULL THEN base.redirect_url ELSE asked.success.redirect_url END AS redirect_url,
    coalesce(marked.first_url, CASE WHEN asked.body_position IS NULL THEN base.duplicate_of END) AS duplicate_of,
    near_label.near_of,
    coalesce(asked.last.epoch, base.last_epoch, 0) AS last_epoch
FROM touched
LEFT JOIN base USING (url_key)
LEFT JOIN found USING (url_key)
LEFT JOIN asked USING (url_key)
LEFT JOIN marked USING (url_key)
LEFT JOIN near_label USING (url_key)
LEFT JOIN mentioned USING (url_key)
WHERE base.url_key IS NOT NULL OR found.url_key IS NOT NULL
