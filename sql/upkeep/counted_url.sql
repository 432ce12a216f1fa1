-- The hosts of the URLs that a bucket knows.
-- Reads: page_files, url_files.
-- Grain: one row per URL.
SELECT host FROM page_files
UNION ALL
SELECT host FROM url_files
