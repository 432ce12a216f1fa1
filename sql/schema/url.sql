-- URLs that became known in a merge or by seeding. The metadata key marks holds how far each bucket's links were read.
CREATE TABLE url (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    url_key UBIGINT NOT NULL,
    host_key UBIGINT NOT NULL,
    url VARCHAR NOT NULL,
    fetch_url VARCHAR NOT NULL,
    host VARCHAR NOT NULL,
    pattern_key UBIGINT NOT NULL,
    depth USMALLINT NOT NULL,
    hops USMALLINT NOT NULL,
    is_seed BOOLEAN NOT NULL,
    kind VARCHAR NOT NULL,
    source_url VARCHAR,
    discovered_at TIMESTAMPTZ NOT NULL
);

COMMENT ON TABLE url IS 'URLs that became known in a merge or by seeding. The metadata key marks holds how far each bucket''s links were read.';
COMMENT ON COLUMN url.cycle IS 'cycle of the merge, or the day of seeding';
COMMENT ON COLUMN url.bucket IS 'bucket of the host';
COMMENT ON COLUMN url.epoch IS 'lease epoch in which the row was first written';
COMMENT ON COLUMN url.sequence IS 'sequence number in which the row was first written';
COMMENT ON COLUMN url.url_key IS 'xxh3_64 of url';
COMMENT ON COLUMN url.host_key IS 'key of the host';
COMMENT ON COLUMN url.url IS 'canonical URL';
COMMENT ON COLUMN url.fetch_url IS 'URL as first seen';
COMMENT ON COLUMN url.host IS 'host name';
COMMENT ON COLUMN url.pattern_key IS 'key of host and path with digits and tokens folded (upper 44 bits), number of query parameters (4) and their names (16)';
COMMENT ON COLUMN url.depth IS 'links from a seed, 0 for a seed';
COMMENT ON COLUMN url.hops IS 'links from the hosts in scope, 0 for a URL of such a host';
COMMENT ON COLUMN url.is_seed IS 'whether an operator named it';
COMMENT ON COLUMN url.kind IS 'seed, settings, or the kind of the link that it was found by';
COMMENT ON COLUMN url.source_url IS 'canonical URL of the page that it was found in; NULL for a seed and for a sitemap of settings';
COMMENT ON COLUMN url.discovered_at IS 'instant at which the link was found, or of seeding';
