-- Pages of a bucket whose content another URL brought first. Written by merge from copy.
CREATE TABLE duplicate (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    url_key UBIGINT NOT NULL,
    body_digest BLOB NOT NULL,
    first_url VARCHAR NOT NULL
);

COMMENT ON TABLE duplicate IS 'Pages of a bucket whose content another URL brought first. Written by merge from copy.';
COMMENT ON COLUMN duplicate.cycle IS 'cycle of the merge';
COMMENT ON COLUMN duplicate.bucket IS 'bucket of the copy';
COMMENT ON COLUMN duplicate.epoch IS 'lease epoch in which the row was first written';
COMMENT ON COLUMN duplicate.sequence IS 'sequence number in which the row was first written';
COMMENT ON COLUMN duplicate.url_key IS 'key of the copy';
COMMENT ON COLUMN duplicate.body_digest IS 'body_digest of the observation that is a copy';
COMMENT ON COLUMN duplicate.first_url IS 'canonical URL of the first copy';
