-- Pages of a bucket whose content another URL brought first, or nearly so. Written by merge from copy and near.
CREATE TABLE duplicate (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    url_key UBIGINT NOT NULL,
    body_digest BLOB NOT NULL,
    first_url VARCHAR,
    simhash UBIGINT,
    near_of VARCHAR,
    near_skipped UTINYINT
);

COMMENT ON TABLE duplicate IS 'Pages of a bucket whose content another URL brought first, or nearly so. Written by merge from copy and near.';
COMMENT ON COLUMN duplicate.cycle IS 'cycle of the merge';
COMMENT ON COLUMN duplicate.bucket IS 'bucket of the copy';
COMMENT ON COLUMN duplicate.epoch IS 'lease epoch in which the row was first written';
COMMENT ON COLUMN duplicate.sequence IS 'sequence number in which the row was first written';
COMMENT ON COLUMN duplicate.url_key IS 'key of the copy';
COMMENT ON COLUMN duplicate.body_digest IS 'body_digest of the observation that is a copy';
COMMENT ON COLUMN duplicate.first_url IS 'canonical URL of the first exact copy; NULL if there is none';
COMMENT ON COLUMN duplicate.simhash IS 'SimHash of the observation that is a near copy';
COMMENT ON COLUMN duplicate.near_of IS 'canonical URL of the page that stands for the near copies; NULL if it is none';
COMMENT ON COLUMN duplicate.near_skipped IS 'keys of the SimHash that too many others share to be looked up by, of (k + 2)(k + 1) / 2; mostly 0; NULL if it was not searched for';
