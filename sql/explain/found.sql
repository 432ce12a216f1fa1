-- The links that name a URL: from how many pages, and what keeps them from counting.
-- Reads: link_files.
-- Params: target_host_key, target_url_key.
-- Grain: one row.
SELECT
    count(DISTINCT source_url_key) AS pages,
    min(source_url) AS example,
    coalesce(bool_and(nofollow), false) AS is_nofollow,
    min(trap) AS trap,
    min(found_at) AS found_at
FROM link_files
WHERE target_host_key = $target_host_key::UBIGINT AND target_url_key = $target_url_key::UBIGINT
