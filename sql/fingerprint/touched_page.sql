-- What the checkpoint says of the touched pages' texts. The SimHash is NULL without a body, and no label is about NULL: whether
-- there is a body, which near_label asks, need not be read from its wide column.
-- Reads: base_page, touched.
-- Grain: one row per touched URL that the checkpoint knows.
SELECT url_key, simhash, outcome, near_of, CASE WHEN simhash IS NOT NULL THEN ''::BLOB END AS body_digest
FROM base_page
WHERE url_key IN (SELECT url_key FROM touched)
