-- What operators named as starting points; one file per call of seed, never rewritten.
CREATE TABLE seed (
    url VARCHAR NOT NULL,
    fetch_url VARCHAR NOT NULL,
    host VARCHAR NOT NULL,
    added_at TIMESTAMPTZ NOT NULL
);

COMMENT ON TABLE seed IS 'What operators named as starting points; one file per call of seed, never rewritten.';
COMMENT ON COLUMN seed.url IS 'canonical URL';
COMMENT ON COLUMN seed.fetch_url IS 'URL as it was given';
COMMENT ON COLUMN seed.host IS 'host name; the seeds'' hosts are the default scope';
COMMENT ON COLUMN seed.added_at IS 'instant of seeding';
