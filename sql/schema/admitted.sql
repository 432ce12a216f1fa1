-- How much of each bucket's plan a cycle fetches: rows with (priority, url_key) not after the cut-off.
CREATE TABLE admitted (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    candidates UINTEGER NOT NULL,
    admitted UINTEGER NOT NULL,
    unspent UINTEGER NOT NULL,
    cutoff_priority INTEGER NOT NULL,
    cutoff_url_key UBIGINT NOT NULL,
    cutoff_value DOUBLE,
    new_cutoff_priority INTEGER NOT NULL,
    new_cutoff_url_key UBIGINT NOT NULL,
    expected_bytes UBIGINT NOT NULL,
    belief STRUCT(
        urls UBIGINT,
        sums STRUCT(k0 BIGINT, k1 BIGINT, k2 BIGINT, k3 BIGINT, k4 BIGINT, k5 BIGINT, k6 BIGINT, k7 BIGINT),
        asked UBIGINT,
        useful UBIGINT
    ),
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
COMMENT ON COLUMN admitted.cutoff_value IS 'value of the last row that was admitted by value, in days of freshness a fetch; NULL if the budget was not used up';
COMMENT ON COLUMN admitted.new_cutoff_priority IS 'priority of the last new row within plan.new_share; rows of reason new after it are not admitted';
COMMENT ON COLUMN admitted.new_cutoff_url_key IS 'at that priority, keys up to this one are admitted';
COMMENT ON COLUMN admitted.expected_bytes IS 'bytes that the admitted rows of the bucket are expected to bring';
COMMENT ON COLUMN admitted.belief IS 'over all buckets: live pages with evidence, millionths of belief in each rate over them, URLs asked for and those that brought a page of their own; the prior of the next plans';
COMMENT ON COLUMN admitted.shared_addresses IS 'addresses that hosts of this and of other buckets resolve to';
