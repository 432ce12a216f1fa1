-- The URLs of a bucket's checkpoint.
-- Reads: base_page.
-- Grain: one row per URL.
SELECT url_key FROM base_page
