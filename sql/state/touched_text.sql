-- What the checkpoint says of the touched URLs' texts: touched_page without the columns that near labels do not ask for.
-- Reads: base_page, touched.
-- Grain: one row per touched URL that the checkpoint knows.
SELECT url_key, simhash, near_of FROM base_page WHERE url_key IN (SELECT url_key FROM touched)
