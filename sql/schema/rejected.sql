-- How many URLs a merge did not let in, and how many known ones traps keep out of plans, by rule.
CREATE TABLE rejected (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    rule VARCHAR NOT NULL,
    host VARCHAR,
    pattern VARCHAR,
    urls UBIGINT NOT NULL,
    held UBIGINT,
    example VARCHAR NOT NULL
);

COMMENT ON TABLE rejected IS 'How many URLs a merge did not let in, and how many known ones traps keep out of plans, by rule.';
COMMENT ON COLUMN rejected.cycle IS 'cycle of the merge';
COMMENT ON COLUMN rejected.bucket IS 'bucket of the targets';
COMMENT ON COLUMN rejected.epoch IS 'lease epoch in which the row was first written';
COMMENT ON COLUMN rejected.sequence IS 'sequence number in which the row was first written';
COMMENT ON COLUMN rejected.rule IS 'scope rule or trap rule, e.g. scope.hosts or traps.max_depth';
COMMENT ON COLUMN rejected.host IS 'host that a trap rule is about; NULL for rules of scope and purges';
COMMENT ON COLUMN rejected.pattern IS 'path that the rule is about, digits and long tokens folded, e.g. /calendar/0/0/; NULL if it is about none';
COMMENT ON COLUMN rejected.urls IS 'distinct URLs found by links that it stopped in this merge';
COMMENT ON COLUMN rejected.held IS 'URLs known before this merge that it keeps out of plans; counted anew by each merge that counts; NULL in others: of a large bucket one in seven cycles counts';
COMMENT ON COLUMN rejected.example IS 'one of these URLs; empty for a purge';
