-- The verdict on each candidate of a plan once identities count: of the URLs that the rules of today make one, one stays,
-- the new identity if it is known, else the first that was asked for.
-- Reads: verdict, state_page, renamed (url_key, and identity_key of what it is called today).
-- Grain: one row per candidate; rejected_by is NULL for one that may be planned.
WITH other AS (
    SELECT url_key
    FROM renamed
    JOIN state_page AS p USING (url_key)
    QUALIFY
        identity_key IN (SELECT url_key FROM state_page)
        OR row_number() OVER (PARTITION BY identity_key ORDER BY p.asked_at IS NULL, p.asked_at, url_key) > 1
)
SELECT
    verdict.url_key,
    coalesce(verdict.rejected_by, CASE WHEN other.url_key IS NOT NULL THEN 'urls.identity' END) AS rejected_by
FROM verdict
LEFT JOIN other USING (url_key)
