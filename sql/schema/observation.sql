-- Every fact that we asked for a URL, or would not, at an instant and what came of it; written once by the bucket's owner.
CREATE TABLE observation (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    url_key UBIGINT NOT NULL,
    host_key UBIGINT NOT NULL,
    url VARCHAR NOT NULL,
    fetch_url VARCHAR NOT NULL,
    host VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL,
    status USMALLINT,
    fetched_at TIMESTAMPTZ NOT NULL,
    ended_at TIMESTAMPTZ NOT NULL,
    sent BOOLEAN NOT NULL,
    late BOOLEAN NOT NULL,
    delay_seconds DOUBLE NOT NULL,
    connections UTINYINT NOT NULL,
    address VARCHAR,
    address_delay_seconds DOUBLE NOT NULL,
    address_buckets USMALLINT NOT NULL,
    robots_digest BLOB,
    conditional BOOLEAN NOT NULL,
    audit BOOLEAN NOT NULL,
    etag VARCHAR,
    last_modified VARCHAR,
    content_type VARCHAR,
    charset VARCHAR,
    charset_reason VARCHAR,
    wire_bytes UBIGINT NOT NULL,
    body_bytes UBIGINT,
    saved_bytes UBIGINT NOT NULL,
    truncated BOOLEAN NOT NULL,
    stored BOOLEAN NOT NULL,
    body_digest BLOB,
    text_digest BLOB,
    copy_digest BLOB,
    text_bytes UINTEGER,
    simhash UBIGINT,
    content_changed BOOLEAN,
    counts_as_changed BOOLEAN,
    modified_at TIMESTAMPTZ,
    modified_trusted BOOLEAN NOT NULL,
    signalled BOOLEAN NOT NULL,
    discovered STRUCT(pattern_key UBIGINT, depth USMALLINT, hops USMALLINT, discovered_at TIMESTAMPTZ),
    sitemap VARCHAR,
    title VARCHAR,
    language VARCHAR,
    noindex BOOLEAN NOT NULL,
    nofollow BOOLEAN NOT NULL,
    noarchive BOOLEAN NOT NULL,
    redirect_url VARCHAR,
    canonical_url VARCHAR,
    links UINTEGER NOT NULL,
    nofollow_links UINTEGER NOT NULL,
    rejected_links STRUCT(reason VARCHAR, links UINTEGER)[],
    dropped_parameters STRUCT("name" VARCHAR, links UINTEGER)[],
    retry_after_seconds DOUBLE,
    error VARCHAR
);

COMMENT ON TABLE observation IS 'Every fact that we asked for a URL, or would not, at an instant and what came of it; written once by the bucket''s owner.';
COMMENT ON COLUMN observation.cycle IS 'cycle it was fetched for, e.g. 2026-11-25';
COMMENT ON COLUMN observation.bucket IS 'bucket of the host';
COMMENT ON COLUMN observation.epoch IS 'lease epoch in which the row was first written; rewriting keeps it';
COMMENT ON COLUMN observation.sequence IS 'sequence number within the epoch in which the row was first written';
COMMENT ON COLUMN observation.url_key IS 'xxh3_64 of url';
COMMENT ON COLUMN observation.host_key IS 'xxh3_64 of host; its top bits are the bucket';
COMMENT ON COLUMN observation.url IS 'canonical URL, the identity';
COMMENT ON COLUMN observation.fetch_url IS 'URL as first seen, requested verbatim without its fragment';
COMMENT ON COLUMN observation.host IS 'host name of the canonical URL';
COMMENT ON COLUMN observation.outcome IS 'one of the closed list in docs/data-dictionary.md, e.g. not_modified';
COMMENT ON COLUMN observation.status IS 'HTTP status of the final response; NULL without one';
COMMENT ON COLUMN observation.fetched_at IS 'instant at which the request was sent, or at which we decided not to send one';
COMMENT ON COLUMN observation.ended_at IS 'instant at which the response ended or failed; fetched_at if nothing was sent';
COMMENT ON COLUMN observation.sent IS 'whether a request went to the host';
COMMENT ON COLUMN observation.late IS 'whether fetched_at is after the cycle''s window';
COMMENT ON COLUMN observation.delay_seconds IS 'seconds from ended_at that the host was owed before its next request';
COMMENT ON COLUMN observation.connections IS 'requests that could be under way at the host at once, see host.connections; mostly 1';
COMMENT ON COLUMN observation.address IS 'IP address that was connected to, e.g. 192.0.2.7';
COMMENT ON COLUMN observation.address_delay_seconds IS 'politeness.address_delay_seconds in force at address; 0 for none, be it exempt';
COMMENT ON COLUMN observation.address_buckets IS 'buckets with hosts known at address, which share its rate; 1 if it was met first in this task';
COMMENT ON COLUMN observation.robots_digest IS 'SHA-256 of the robots.txt body that the decision rests on; NULL if there was none';
COMMENT ON COLUMN observation.conditional IS 'whether the request carried If-None-Match or If-Modified-Since';
COMMENT ON COLUMN observation.audit IS 'whether validators that we have were held back, to see if the host''s are true';
COMMENT ON COLUMN observation.etag IS 'ETag of the response verbatim, or that of the stored copy after a 304';
COMMENT ON COLUMN observation.last_modified IS 'Last-Modified of the response verbatim, or that of the stored copy after a 304';
COMMENT ON COLUMN observation.content_type IS 'media type of the response in lower case, without parameters';
COMMENT ON COLUMN observation.charset IS 'character encoding that the text was decoded with, e.g. utf-8';
COMMENT ON COLUMN observation.charset_reason IS 'what says so: bom, header, xml, meta, or detected where the page is silent';
COMMENT ON COLUMN observation.wire_bytes IS 'bytes of the body as transferred';
COMMENT ON COLUMN observation.body_bytes IS 'bytes of the decoded body; NULL without one';
COMMENT ON COLUMN observation.saved_bytes IS 'bytes of the stored body that a 304 made unnecessary to transfer, else 0';
COMMENT ON COLUMN observation.truncated IS 'whether the body was cut at a limit';
COMMENT ON COLUMN observation.stored IS 'whether the body belongs into capture; false for noarchive and for an unchanged body';
COMMENT ON COLUMN observation.body_digest IS 'SHA-256 of the decoded body; after a 304 that of the stored copy';
COMMENT ON COLUMN observation.text_digest IS 'SHA-256 of the normalised main text; after a 304 that of the stored copy';
COMMENT ON COLUMN observation.copy_digest IS 'SHA-256 of normalised text and outlinks; NULL below copies.min_text_bytes';
COMMENT ON COLUMN observation.text_bytes IS 'bytes of the normalised main text in UTF-8';
COMMENT ON COLUMN observation.simhash IS '64-bit SimHash of word 2-shingles of the main text; NULL below copies.min_text_bytes';
COMMENT ON COLUMN observation.content_changed IS 'whether text_digest differs from the previous version''s; NULL at the first fetch and without content';
COMMENT ON COLUMN observation.sitemap IS 'what kind of sitemap or feed the body is: urlset, index, text, rss or atom; NULL for a page';
COMMENT ON COLUMN observation.counts_as_changed IS 'whether scheduling takes it for changed: content_changed, unless the host is noisy and the SimHash is near';
COMMENT ON COLUMN observation.modified_at IS 'Last-Modified as an instant; NULL if there is none, or it is the time of the answer';
COMMENT ON COLUMN observation.modified_trusted IS 'whether Last-Modified of the host was trusted to date changes when it was planned';
COMMENT ON COLUMN observation.signalled IS 'whether a sitemap or feed claimed a change since the check before, when it was planned';
COMMENT ON COLUMN observation.discovered IS 'for a URL that was found in this cycle and fetched out of the budget that its plans left: what the link said that made it known, see url; NULL for what was planned';
COMMENT ON COLUMN observation.title IS 'title of the page, at most 300 characters';
COMMENT ON COLUMN observation.language IS 'primary subtag of the language that html lang or Content-Language declare, e.g. pt; NULL if neither does';
COMMENT ON COLUMN observation.noindex IS 'whether the page asks not to be indexed (meta robots, X-Robots-Tag), or not any more (unavailable_after)';
COMMENT ON COLUMN observation.nofollow IS 'whether the page asks to follow none of its links; they are counted only';
COMMENT ON COLUMN observation.noarchive IS 'whether the page asks not to be archived: its body is not stored; captures of versions that did not ask stay';
COMMENT ON COLUMN observation.redirect_url IS 'canonical URL of a redirect''s target';
COMMENT ON COLUMN observation.canonical_url IS 'canonical URL that rel=canonical names';
COMMENT ON COLUMN observation.links IS 'links found in the page after canonicalisation';
COMMENT ON COLUMN observation.nofollow_links IS 'those of links that the page, or each link to that target, asks not to follow';
COMMENT ON COLUMN observation.rejected_links IS 'links of the page, or its redirect, that are no URL to crawl, by reason: bad_url, bad_scheme, bad_host, bad_port, too_long, in a sitemap foreign_host; NULL if there are none';
COMMENT ON COLUMN observation.dropped_parameters IS 'links of the page, or its redirect, by the parameters that are no part of their identity, e.g. utm_source; path_session is a session in a path, (other) all beyond 50 names; NULL if there are none';
COMMENT ON COLUMN observation.retry_after_seconds IS 'Retry-After of the response, in seconds';
COMMENT ON COLUMN observation.error IS 'what failed, at most 200 printable characters';
