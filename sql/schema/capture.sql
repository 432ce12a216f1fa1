-- The bytes of a response, once per distinct content.
CREATE TABLE capture (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    url_key UBIGINT NOT NULL,
    url VARCHAR NOT NULL,
    fetched_at TIMESTAMPTZ NOT NULL,
    body_digest BLOB NOT NULL,
    content_type VARCHAR,
    charset VARCHAR,
    headers VARCHAR NOT NULL,
    body BLOB NOT NULL
);

COMMENT ON TABLE capture IS 'The bytes of a response, once per distinct content.';
COMMENT ON COLUMN capture.cycle IS 'cycle of the observation that brought the body';
COMMENT ON COLUMN capture.bucket IS 'bucket of the host';
COMMENT ON COLUMN capture.epoch IS 'lease epoch of the observation';
COMMENT ON COLUMN capture.sequence IS 'sequence number of the observation';
COMMENT ON COLUMN capture.url_key IS 'key of the URL that it was fetched for';
COMMENT ON COLUMN capture.url IS 'canonical URL that it was fetched for';
COMMENT ON COLUMN capture.fetched_at IS 'fetched_at of the observation';
COMMENT ON COLUMN capture.body_digest IS 'SHA-256 of body';
COMMENT ON COLUMN capture.content_type IS 'Content-Type header verbatim';
COMMENT ON COLUMN capture.charset IS 'character encoding, e.g. utf-8';
COMMENT ON COLUMN capture.headers IS 'response headers as a JSON list of [name, value]';
COMMENT ON COLUMN capture.body IS 'decoded body, cut at fetch.max_body_bytes';
