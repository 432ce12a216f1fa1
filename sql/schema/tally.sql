-- How often a host was asked with which outcome and in what time, over all that a checkpoint holds.
CREATE TABLE tally (
    bucket USMALLINT NOT NULL,
    host_key UBIGINT NOT NULL,
    host VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL,
    response_class UTINYINT,
    observations UBIGINT NOT NULL,
    requests UBIGINT NOT NULL,
    brought UBIGINT NOT NULL,
    wire_bytes UBIGINT NOT NULL,
    saved_bytes UBIGINT NOT NULL
);

COMMENT ON TABLE tally IS 'How often a host was asked with which outcome and in what time, over all that a checkpoint holds.';
COMMENT ON COLUMN tally.bucket IS 'bucket of the host';
COMMENT ON COLUMN tally.host_key IS 'key of the host';
COMMENT ON COLUMN tally.host IS 'host name';
COMMENT ON COLUMN tally.outcome IS 'outcome of the observations, as in observation';
COMMENT ON COLUMN tally.response_class IS 'their response time: 0 below 1 ms, then four classes to each doubling, see docs/operating.md; NULL without an answer';
COMMENT ON COLUMN tally.observations IS 'how many there are';
COMMENT ON COLUMN tally.requests IS 'those of them for which a request was sent';
COMMENT ON COLUMN tally.brought IS 'those that brought content which the URL did not have: its first, or another than before';
COMMENT ON COLUMN tally.wire_bytes IS 'bytes that were received';
COMMENT ON COLUMN tally.saved_bytes IS 'bytes of bodies that 304 answers spared';
