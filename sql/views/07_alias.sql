-- The pages that name another as canonical, with the end of the chain that this begins. A hint of theirs, no fact of ours:
-- nothing is merged. Chains that come back to a page of their own or have more than ten steps end nowhere and give none.
-- Reads: page (once: each mention of a view that folds the log costs its whole plan again).
-- Grain: one row per page whose chain ends.
CREATE VIEW alias AS
WITH RECURSIVE known AS MATERIALIZED (
    SELECT url_key, host, url, canonical_url, outcome, noindex FROM page
),
named AS (
    SELECT url_key, host, url, canonical_url FROM known WHERE canonical_url <> url
),
step AS (
    SELECT url_key, host, url, canonical_url, canonical_url AS alias_of, 1 AS steps FROM named
    UNION ALL
    SELECT step.url_key, step.host, step.url, step.canonical_url, named.canonical_url, step.steps + 1
    FROM step
    JOIN named ON named.url = step.alias_of
    WHERE step.steps < 10
)
SELECT
    step.url_key,
    step.host,
    step.url,
    step.canonical_url,
    step.alias_of,
    step.steps,
    target.host <> step.host AS is_elsewhere,
    target.outcome AS target_outcome,
    target.noindex AS target_noindex
FROM step
LEFT JOIN known AS target ON target.url = step.alias_of
WHERE target.url IS NULL OR target.canonical_url IS NULL OR target.canonical_url = target.url
