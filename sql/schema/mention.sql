-- What links and sitemaps newly say of a bucket's URLs. Written by merge beside url, read by the fold.
CREATE TABLE mention (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    url_key UBIGINT NOT NULL,
    url VARCHAR NOT NULL,
    inlinks UINTEGER NOT NULL,
    lastmod TIMESTAMPTZ,
    sitemap_priority DOUBLE,
    is_sitemap BOOLEAN NOT NULL,
    announced_by VARCHAR[]
);

COMMENT ON TABLE mention IS 'What links and sitemaps newly say of a bucket''s URLs. Written by merge beside url, read by the fold.';
COMMENT ON COLUMN mention.cycle IS 'cycle of the merge, or the day of seeding';
COMMENT ON COLUMN mention.bucket IS 'bucket of the URL';
COMMENT ON COLUMN mention.epoch IS 'lease epoch in which the row was first written';
COMMENT ON COLUMN mention.sequence IS 'sequence number in which the row was first written';
COMMENT ON COLUMN mention.url_key IS 'key of the URL';
COMMENT ON COLUMN mention.url IS 'canonical URL, known before or by the same merge';
COMMENT ON COLUMN mention.inlinks IS 'further pages that link to it, see page.inlinks';
COMMENT ON COLUMN mention.lastmod IS 'latest lastmod that a sitemap or feed gives it; NULL unless it is later than the one known';
COMMENT ON COLUMN mention.sitemap_priority IS 'priority that a sitemap gives it; NULL without one';
COMMENT ON COLUMN mention.is_sitemap IS 'whether it was found to be a sitemap or feed';
COMMENT ON COLUMN mention.announced_by IS 'hosts that name it as their sitemap, some perhaps known before; NULL if none do';
