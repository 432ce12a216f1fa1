-- What politeness knows of a host after a segment; the newest row of a host counts.
CREATE TABLE host_state (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    host_key UBIGINT NOT NULL,
    host VARCHAR NOT NULL,
    address VARCHAR,
    delay_seconds DOUBLE NOT NULL,
    allowed_at TIMESTAMPTZ NOT NULL,
    response_seconds DOUBLE NOT NULL,
    crawl_delay_seconds DOUBLE,
    penalty DOUBLE NOT NULL,
    error_streak USMALLINT NOT NULL,
    requests UINTEGER NOT NULL,
    busy_at TIMESTAMPTZ,
    slow BOOLEAN NOT NULL,
    validator_audits UINTEGER NOT NULL,
    validator_lies UINTEGER NOT NULL
);

COMMENT ON TABLE host_state IS 'What politeness knows of a host after a segment; the newest row of a host counts.';
COMMENT ON COLUMN host_state.cycle IS 'cycle of the fetch task that wrote it';
COMMENT ON COLUMN host_state.bucket IS 'bucket of the host';
COMMENT ON COLUMN host_state.epoch IS 'lease epoch in which the row was first written';
COMMENT ON COLUMN host_state.sequence IS 'sequence number in which the row was first written';
COMMENT ON COLUMN host_state.host_key IS 'key of the host';
COMMENT ON COLUMN host_state.host IS 'host name';
COMMENT ON COLUMN host_state.address IS 'last IP address that was connected to';
COMMENT ON COLUMN host_state.delay_seconds IS 'seconds owed after the last response';
COMMENT ON COLUMN host_state.allowed_at IS 'instant from which the next request is allowed';
COMMENT ON COLUMN host_state.response_seconds IS 'smoothed response time';
COMMENT ON COLUMN host_state.crawl_delay_seconds IS 'Crawl-delay of robots.txt, capped; NULL without one';
COMMENT ON COLUMN host_state.penalty IS 'factor on the delay after 429 and 503; 1 without';
COMMENT ON COLUMN host_state.error_streak IS 'failed requests in a row';
COMMENT ON COLUMN host_state.requests IS 'requests sent to the host in this cycle so far, robots.txt included';
COMMENT ON COLUMN host_state.busy_at IS 'when it last answered 429 or 503; its cap is halved on that day and the next; NULL if never';
COMMENT ON COLUMN host_state.slow IS 'whether the host is in the slow lane, see fetch.slow_threads';
COMMENT ON COLUMN host_state.validator_audits IS 'audits that proved the host''s validators true or false; both counts are halved at 64, so that old ones fade';
COMMENT ON COLUMN host_state.validator_lies IS 'those of them in which the server would have said that the page is unchanged, and it was another';
