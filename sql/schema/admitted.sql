-- How much of each bucket's plan a cycle fetches: rows with (priority, url_key) not after the cut-off.
CREATE TABLE admitted (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    candidates UINTEGER NOT NULL,
    admitted UINTEGER NOT NULL,
    unspent UINTEGER NOT NULL,
    cutoff_priority INTEGER NOT NULL,
    cutoff_url_key UBIGINT NOT NULL,
    shared_addresses STRUCT(address VARCHAR, buckets USMALLINT)[] NOT NULL
);

COMMENT ON TABLE admitted IS 'How much of each bucket''s plan a cycle fetches: rows with (priority, url_key) not after the cut-off.';
COMMENT ON COLUMN admitted.cycle IS 'cycle';
COMMENT ON COLUMN admitted.bucket IS 'bucket';
COMMENT ON COLUMN admitted.candidates IS 'rows of the bucket''s plan';
COMMENT ON COLUMN admitted.admitted IS 'rows of the bucket''s plan that are fetched';
COMMENT ON COLUMN admitted.unspent IS 'share of the unspent budget, for discovery within the cycle';
COMMENT ON COLUMN admitted.cutoff_priority IS 'priority of the last admitted row; rows above it are admitted';
COMMENT ON COLUMN admitted.cutoff_url_key IS 'at the cut-off''s priority, keys up to this one are admitted';
COMMENT ON COLUMN admitted.shared_addresses IS 'addresses that hosts of this and of other buckets resolve to';
