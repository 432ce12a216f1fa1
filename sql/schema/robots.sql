-- Every request for a robots.txt, redirect hops included.
CREATE TABLE robots (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    origin VARCHAR NOT NULL,
    host_key UBIGINT NOT NULL,
    host VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    hop USMALLINT NOT NULL,
    final BOOLEAN NOT NULL,
    verdict VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL,
    status USMALLINT,
    fetched_at TIMESTAMPTZ NOT NULL,
    ended_at TIMESTAMPTZ NOT NULL,
    sent BOOLEAN NOT NULL,
    delay_seconds DOUBLE NOT NULL,
    connections UTINYINT NOT NULL,
    address VARCHAR,
    address_delay_seconds DOUBLE NOT NULL,
    address_buckets USMALLINT NOT NULL,
    read_at TIMESTAMPTZ,
    valid_until TIMESTAMPTZ NOT NULL,
    crawl_delay_seconds DOUBLE,
    body_digest BLOB,
    body BLOB,
    suspect BOOLEAN NOT NULL,
    unreachable_since TIMESTAMPTZ,
    error VARCHAR
);

COMMENT ON TABLE robots IS 'Every request for a robots.txt, redirect hops included.';
COMMENT ON COLUMN robots.cycle IS 'cycle of the fetch task that asked';
COMMENT ON COLUMN robots.bucket IS 'bucket of the host';
COMMENT ON COLUMN robots.epoch IS 'lease epoch in which the row was first written';
COMMENT ON COLUMN robots.sequence IS 'sequence number in which the row was first written';
COMMENT ON COLUMN robots.origin IS 'scheme://host[:port] that the rules are for';
COMMENT ON COLUMN robots.host_key IS 'key of host';
COMMENT ON COLUMN robots.host IS 'host that was asked, which differs from the origin''s after a redirect; the origin''s if another bucket''s owner was asked for what it knows';
COMMENT ON COLUMN robots.url IS 'URL that was asked, or that another bucket''s owner had asked';
COMMENT ON COLUMN robots.hop IS '0 for /robots.txt, then one more per redirect';
COMMENT ON COLUMN robots.final IS 'whether the row decides for the origin; each decision stands until valid_until, or the next';
COMMENT ON COLUMN robots.verdict IS 'rules, allow or disallow (RFC 9309 2.3.1); redirect for a hop that does not decide';
COMMENT ON COLUMN robots.outcome IS 'outcome of the request, as in observation';
COMMENT ON COLUMN robots.status IS 'HTTP status; NULL without a response';
COMMENT ON COLUMN robots.fetched_at IS 'instant of the request';
COMMENT ON COLUMN robots.ended_at IS 'instant at which the response ended or failed';
COMMENT ON COLUMN robots.sent IS 'whether a request went to the host';
COMMENT ON COLUMN robots.delay_seconds IS 'seconds from ended_at that the host was owed before its next request';
COMMENT ON COLUMN robots.connections IS 'requests that could be under way at the host at once, see host.connections; mostly 1';
COMMENT ON COLUMN robots.address IS 'IP address that was connected to';
COMMENT ON COLUMN robots.address_delay_seconds IS 'politeness.address_delay_seconds in force at address; 0 for none, be it exempt';
COMMENT ON COLUMN robots.address_buckets IS 'buckets with hosts known at address, which share its rate; 1 if it was met first in this task';
COMMENT ON COLUMN robots.read_at IS 'instant at which a server gave the answer that the verdict rests on; before fetched_at where a copy serves, our own or that of another bucket''s owner; NULL without an answer';
COMMENT ON COLUMN robots.valid_until IS 'instant until which the verdict may be used';
COMMENT ON COLUMN robots.crawl_delay_seconds IS 'Crawl-delay for our product token';
COMMENT ON COLUMN robots.body_digest IS 'SHA-256 of the robots.txt that the verdict rests on; its body is in this row, or in an earlier one of the origin whose copy serves on';
COMMENT ON COLUMN robots.body IS 'robots.txt as received, cut at 500 KiB; NULL without a 200 of its own';
COMMENT ON COLUMN robots.suspect IS 'whether a 200 looks like a page: by its media type, or because it opens with markup; it is read as rules all the same';
COMMENT ON COLUMN robots.unreachable_since IS 'since when the origin''s robots.txt could not be read; NULL if it could';
COMMENT ON COLUMN robots.error IS 'what failed, at most 200 printable characters';
