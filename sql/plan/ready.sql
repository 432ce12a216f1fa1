-- The pages that a plan looks at where a list holds: those of the list, and what the log has touched since its checkpoint.
-- Reads: listed_page, touched, folded.
-- Grain: one row per URL, columns of page.
SELECT * FROM listed_page WHERE url_key NOT IN (SELECT url_key FROM touched)
UNION ALL BY NAME
SELECT * FROM folded
