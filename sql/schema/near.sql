-- What a shard's pages are nearly equal to what arrived: one row per arrived page and shard that knows something before it.
CREATE TABLE near (
    cycle DATE NOT NULL,
    shard USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    url_key UBIGINT NOT NULL,
    url VARCHAR NOT NULL,
    bucket USMALLINT NOT NULL,
    observed_epoch UINTEGER NOT NULL,
    observed_sequence UINTEGER NOT NULL,
    body_digest BLOB NOT NULL,
    simhash UBIGINT NOT NULL,
    near_url VARCHAR,
    standing UTINYINT,
    distance UTINYINT,
    skipped UTINYINT NOT NULL
);

COMMENT ON TABLE near IS 'What a shard''s pages are nearly equal to what arrived: one row per arrived page and shard that knows something before it.';
COMMENT ON COLUMN near.cycle IS 'cycle of the fingerprint stage that found it';
COMMENT ON COLUMN near.shard IS 'shard that answers for the pages of the bucket with its number';
COMMENT ON COLUMN near.epoch IS 'lease epoch of the shard in which the row was first written';
COMMENT ON COLUMN near.sequence IS 'sequence number in which the row was first written';
COMMENT ON COLUMN near.url_key IS 'key of the arrived page';
COMMENT ON COLUMN near.url IS 'canonical URL of the arrived page';
COMMENT ON COLUMN near.bucket IS 'bucket of the arrived page';
COMMENT ON COLUMN near.observed_epoch IS 'epoch of its observation';
COMMENT ON COLUMN near.observed_sequence IS 'sequence of its observation';
COMMENT ON COLUMN near.body_digest IS 'body_digest of its observation';
COMMENT ON COLUMN near.simhash IS 'SimHash of its main text';
COMMENT ON COLUMN near.near_url IS 'canonical URL of the first page of the shard within copies.max_distance bits; NULL if none comes before it';
COMMENT ON COLUMN near.standing IS 'rank of near_url: 0 to 2 if it was known, 3 to 5 if it arrived too; within these by what it names as canonical: itself, nothing, another';
COMMENT ON COLUMN near.distance IS 'bits in which the two SimHashes differ';
COMMENT ON COLUMN near.skipped IS 'keys of the SimHash that too many others share to be looked up by; mostly 0';
