-- How many links a merge did not follow, by rule.
CREATE TABLE rejected (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    rule VARCHAR NOT NULL,
    urls UBIGINT NOT NULL,
    example VARCHAR NOT NULL
);

COMMENT ON TABLE rejected IS 'How many links a merge did not follow, by rule.';
COMMENT ON COLUMN rejected.cycle IS 'cycle of the merge';
COMMENT ON COLUMN rejected.bucket IS 'bucket of the targets';
COMMENT ON COLUMN rejected.epoch IS 'lease epoch in which the row was first written';
COMMENT ON COLUMN rejected.sequence IS 'sequence number in which the row was first written';
COMMENT ON COLUMN rejected.rule IS 'scope rule or trap rule, e.g. scope.hosts or traps.max_depth';
COMMENT ON COLUMN rejected.urls IS 'distinct URLs that it stopped';
COMMENT ON COLUMN rejected.example IS 'one of them';
