-- How every known URL stands: the view page in few narrow columns, for which no wide one of a checkpoint is read.
-- Reads: base_page, lately.
-- Grain: one row per URL.
SELECT
    coalesce(base.host_key, lately.host_key) AS host_key,
    coalesce(lately.outcome, base.outcome) AS outcome,
    coalesce(base.fetches, 0) + coalesce(lately.fetches, 0) AS fetches,
    coalesce(lately.fetched_at, base.fetched_at) AS fetched_at
FROM base_page AS base
FULL JOIN lately USING (url_key)
WHERE base.url_key IS NOT NULL OR lately.is_found
