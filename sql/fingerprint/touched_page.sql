-- What the checkpoint says of the touched pages' texts, and whether they are there.
-- Reads: base_page, touched.
-- Grain: one row per touched URL that the checkpoint knows.
SELECT url_key, noindex, simhash, outcome, near_of FROM base_page WHERE url_key IN (SELECT url_key FROM touched)
