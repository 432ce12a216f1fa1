-- The state of every touched URL: its checkpoint row with the tail of the log folded over it in (epoch, sequence) order.
-- Reads: touched, touched_page, found, asked, streak, evidence, mentioned, near_label, tail_duplicate (rows from the
-- checkpoint's epoch on).
-- Grain: one row per URL, columns of page.
WITH base AS (
    SELECT *, page_place(p) AS place, page_content(p) AS content
    FROM touched_page AS p
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
    CASE WHEN asked.last IS NULL THEN base.robots_digest ELSE asked.last.robots_digest END AS robots_digest,
    CASE
        WHEN streak.kind IS NULL THEN coalesce(base.streak, 0)
        WHEN streak.kind = 'success' THEN 0
        WHEN streak.is_whole AND outcome_kind(base.outcome) = streak.kind THEN base.streak + streak.streak
        ELSE streak.streak
    END AS streak,
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
    coalesce(asked.last.epoch, base.last_epoch, 0) AS last_epoch,
    coalesce(coalesce(asked.content, base.content).canonical_url <> coalesce(base.url, found.place.url), false) AS is_alias,
    CASE WHEN evidence.url_key IS NULL THEN base.checked_at ELSE evidence.checked_at END AS checked_at,
    CASE WHEN evidence.url_key IS NULL THEN base.is_live ELSE evidence.is_live END AS is_live,
    coalesce(base.checks, 0) + coalesce(evidence.checks, 0) AS checks,
    coalesce(evidence.evidence, base.evidence) AS evidence,
    coalesce(evidence.generation, base.evidence_generation) AS evidence_generation,
    add_hints(coalesce(base.hints, no_hints()), coalesce(evidence.hints, no_hints())) AS hints
FROM touched
LEFT JOIN base USING (url_key)
LEFT JOIN found USING (url_key)
LEFT JOIN asked USING (url_key)
LEFT JOIN marked USING (url_key)
LEFT JOIN near_label USING (url_key)
LEFT JOIN mentioned USING (url_key)
LEFT JOIN streak USING (url_key)
LEFT JOIN evidence USING (url_key)
WHERE base.url_key IS NOT NULL OR found.url_key IS NOT NULL
