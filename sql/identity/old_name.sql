-- The known URL that stands for one whose name is not known yet: of those that the rules make it the first asked for.
-- Reads: renamed, state_page.
-- Params: url_key, of the name that is not known.
-- Grain: one row, or none.
SELECT p.url
FROM renamed
JOIN state_page AS p USING (url_key)
WHERE renamed.identity_key = $url_key
ORDER BY p.asked_at IS NULL, p.asked_at, p.url_key
LIMIT 1
