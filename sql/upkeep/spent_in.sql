-- Those of a file's bodies whose time is over.
-- Reads: capture_file, spent_body.
-- Grain: one row per body.
SELECT url_key, fetched_at
FROM capture_file
SEMI JOIN spent_body USING (url_key, fetched_at)
