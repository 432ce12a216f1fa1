-- The checkpoint's rows of the touched URLs, read from it once: a row of it costs the same whether one column folds it or ten.
-- Reads: base_page, touched.
-- Grain: one row per touched URL that the checkpoint knows, columns of page.
SELECT * FROM base_page WHERE url_key IN (SELECT url_key FROM touched)
