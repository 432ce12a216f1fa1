-- Who brought a content first: one row per URL and digest, by digest shard.
CREATE TABLE copy (
    cycle DATE NOT NULL,
    shard USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    digest BLOB NOT NULL,
    url_key UBIGINT NOT NULL,
    url VARCHAR NOT NULL,
    bucket USMALLINT NOT NULL,
    observed_epoch UINTEGER NOT NULL,
    observed_sequence UINTEGER NOT NULL,
    body_digest BLOB NOT NULL,
    stored BOOLEAN NOT NULL,
    is_first BOOLEAN NOT NULL,
    first_url VARCHAR NOT NULL,
    is_holder BOOLEAN NOT NULL
);

COMMENT ON TABLE copy IS 'Who brought a content first: one row per URL and digest, by digest shard.';
COMMENT ON COLUMN copy.cycle IS 'cycle of the fingerprint stage that found it';
COMMENT ON COLUMN copy.shard IS 'shard of the digest: its top bits';
COMMENT ON COLUMN copy.epoch IS 'lease epoch of the shard in which the row was first written';
COMMENT ON COLUMN copy.sequence IS 'sequence number in which the row was first written';
COMMENT ON COLUMN copy.kind IS 'body (equal bytes) or text (equal text and outlinks)';
COMMENT ON COLUMN copy.digest IS 'body_digest or copy_digest of the observation';
COMMENT ON COLUMN copy.url_key IS 'key of the URL';
COMMENT ON COLUMN copy.url IS 'canonical URL';
COMMENT ON COLUMN copy.bucket IS 'bucket of the URL';
COMMENT ON COLUMN copy.observed_epoch IS 'epoch of the observation';
COMMENT ON COLUMN copy.observed_sequence IS 'sequence of the observation';
COMMENT ON COLUMN copy.body_digest IS 'body_digest of the observation';
COMMENT ON COLUMN copy.stored IS 'whether the observation''s body belongs into capture';
COMMENT ON COLUMN copy.is_first IS 'whether the URL is the first with this digest';
COMMENT ON COLUMN copy.first_url IS 'canonical URL of the first';
COMMENT ON COLUMN copy.is_holder IS 'whether capture keeps the body of this very observation; false if kind is text';
