-- Candidates of a bucket for a cycle, best first; admit decides how many of them are fetched.
CREATE TABLE plan (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    url_key UBIGINT NOT NULL,
    host_key UBIGINT NOT NULL,
    url VARCHAR NOT NULL,
    fetch_url VARCHAR NOT NULL,
    host VARCHAR NOT NULL,
    priority INTEGER NOT NULL,
    reason VARCHAR NOT NULL,
    expected_bytes UBIGINT NOT NULL,
    host_rank UINTEGER NOT NULL,
    depth USMALLINT NOT NULL,
    hops USMALLINT NOT NULL,
    is_new BOOLEAN NOT NULL,
    signalled BOOLEAN NOT NULL,
    modified_trusted BOOLEAN NOT NULL,
    noisy BOOLEAN NOT NULL,
    is_sitemap BOOLEAN NOT NULL,
    announced_by VARCHAR[],
    etag VARCHAR,
    last_modified VARCHAR,
    body_digest BLOB,
    text_digest BLOB,
    copy_digest BLOB,
    simhash UBIGINT,
    text_bytes UINTEGER,
    body_bytes UBIGINT
);

COMMENT ON TABLE plan IS 'Candidates of a bucket for a cycle, best first; admit decides how many of them are fetched.';
COMMENT ON COLUMN plan.cycle IS 'cycle';
COMMENT ON COLUMN plan.bucket IS 'bucket';
COMMENT ON COLUMN plan.url_key IS 'key of the URL';
COMMENT ON COLUMN plan.host_key IS 'key of the host';
COMMENT ON COLUMN plan.url IS 'canonical URL';
COMMENT ON COLUMN plan.fetch_url IS 'URL to request';
COMMENT ON COLUMN plan.host IS 'host name';
COMMENT ON COLUMN plan.priority IS 'floor(4096 log2(value)), with 2^20 more for max_interval, 2^21 for sitemap, 3 x 2^20 for seed, 2^22 for forced; larger is fetched first, ties by url_key';
COMMENT ON COLUMN plan.reason IS 'why it is here: forced, seed, sitemap, max_interval, new or priority';
COMMENT ON COLUMN plan.expected_bytes IS 'bytes that it counts as against plan.budget_bytes: its last body, or the mean of its host';
COMMENT ON COLUMN plan.host_rank IS 'rank within the host, from 1; at most its cap';
COMMENT ON COLUMN plan.depth IS 'links from a seed';
COMMENT ON COLUMN plan.hops IS 'links from the hosts in scope';
COMMENT ON COLUMN plan.is_new IS 'whether it was never asked for';
COMMENT ON COLUMN plan.is_sitemap IS 'whether it is a sitemap or feed, which has a schedule of its own';
COMMENT ON COLUMN plan.announced_by IS 'hosts whose URLs this sitemap may list beside those of its own host; see page.announced_by';
COMMENT ON COLUMN plan.signalled IS 'whether a sitemap or feed claims a change since the last check';
COMMENT ON COLUMN plan.modified_trusted IS 'whether Last-Modified of the host is trusted to date changes';
COMMENT ON COLUMN plan.noisy IS 'whether near copies count as unchanged on its host';
COMMENT ON COLUMN plan.etag IS 'validator to send in If-None-Match';
COMMENT ON COLUMN plan.last_modified IS 'validator to send in If-Modified-Since';
COMMENT ON COLUMN plan.body_digest IS 'SHA-256 of the stored version';
COMMENT ON COLUMN plan.text_digest IS 'SHA-256 of the normalised text of the stored version';
COMMENT ON COLUMN plan.copy_digest IS 'SHA-256 of text and outlinks of the stored version';
COMMENT ON COLUMN plan.simhash IS 'SimHash of the stored version';
COMMENT ON COLUMN plan.text_bytes IS 'text bytes of the stored version';
COMMENT ON COLUMN plan.body_bytes IS 'body bytes of the stored version';
