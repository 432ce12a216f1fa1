-- The whole state of a bucket after a cycle: its rows with what was fetched folded in, and what links name for the first
-- time.
-- Reads: base_page, cycle_observation, cycle_link.
-- Params: bucket; low_key, high_key: the bucket's host keys.
-- Grain: one row per URL, columns of page.
WITH named AS (
    SELECT
        target_url_key AS url_key,
        count(DISTINCT source_url_key) AS inlinks,
        arg_min(l, (source_depth, found_at, source_url)) AS link
    FROM cycle_link AS l
    WHERE target_host_key BETWEEN $low_key::UBIGINT AND $high_key::UBIGINT AND NOT nofollow
    GROUP BY target_url_key
),
folded AS (
    SELECT
        p.* REPLACE (
            coalesce(o.outcome, p.outcome) AS outcome,
            coalesce(o.status, p.status) AS status,
            coalesce(o.cycle, p.last_cycle) AS last_cycle,
            coalesce(o.fetched_at, p.asked_at) AS asked_at,
            CASE WHEN is_success(o.outcome) THEN o.fetched_at ELSE p.fetched_at END AS fetched_at,
            CASE WHEN o.content_changed THEN o.fetched_at ELSE p.changed_at END AS changed_at,
            (p.fetches + coalesce(is_success(o.outcome)::INTEGER, 0))::UINTEGER AS fetches,
            (p.changes + coalesce(o.content_changed::INTEGER, 0))::UINTEGER AS changes,
            coalesce(o.etag, p.etag) AS etag,
            coalesce(o.last_modified, p.last_modified) AS last_modified,
            coalesce(o.body_digest, p.body_digest) AS body_digest,
            coalesce(o.text_digest, p.text_digest) AS text_digest,
            coalesce(o.copy_digest, p.copy_digest) AS copy_digest,
            coalesce(o.simhash, p.simhash) AS simhash,
            coalesce(o.text_bytes, p.text_bytes) AS text_bytes,
            coalesce(o.body_bytes, p.body_bytes) AS body_bytes,
            coalesce(o.title, p.title) AS title,
            (p.inlinks + coalesce(n.inlinks, 0))::UINTEGER AS inlinks
        )
    FROM base_page AS p
    LEFT JOIN cycle_observation AS o USING (url_key)
    LEFT JOIN named AS n USING (url_key)
),
found AS (
    SELECT
        $bucket::USMALLINT AS bucket, url_key, link.target_host_key AS host_key, link.target_host AS host,
        link.target_url AS url, link.target_fetch_url AS fetch_url, link.target_pattern_key AS pattern_key,
        (link.source_depth + 1)::USMALLINT AS depth, link.source_hops AS hops, link.found_at AS discovered_at,
        inlinks::UINTEGER AS inlinks
    FROM named
    WHERE url_key NOT IN (SELECT url_key FROM base_page)
)
SELECT * FROM (FROM folded UNION ALL BY NAME FROM found) ORDER BY host_key, url_key
