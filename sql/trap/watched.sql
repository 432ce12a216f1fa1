-- What rules of traps look at in a plan: its candidates.
-- Reads: candidate, trap_page, ready_page.
-- Grain: one row per URL.
SELECT t.*, p.streak
FROM trap_page AS t
JOIN (SELECT url_key, streak FROM ready_page WHERE url_key IN (SELECT url_key FROM candidate)) AS p USING (url_key)
