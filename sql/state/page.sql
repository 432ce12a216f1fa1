-- The state of every known URL of a bucket; untouched rows are read straight from the checkpoint, column by column.
-- Reads: base_page, touched, folded.
-- Grain: one row per URL, columns of page.
SELECT * FROM base_page WHERE url_key NOT IN (SELECT url_key FROM touched)
UNION ALL BY NAME
SELECT * FROM folded
