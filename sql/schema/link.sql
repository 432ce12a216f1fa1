-- Links from a page to a URL, sorted by target_host_key so that the target's owner reads one range.
CREATE TABLE link (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    source_url_key UBIGINT NOT NULL,
    source_url VARCHAR NOT NULL,
    source_depth USMALLINT NOT NULL,
    source_hops USMALLINT NOT NULL,
    kind VARCHAR NOT NULL,
    nofollow BOOLEAN NOT NULL,
    target_url_key UBIGINT NOT NULL,
    target_host_key UBIGINT NOT NULL,
    target_url VARCHAR NOT NULL,
    target_fetch_url VARCHAR NOT NULL,
    target_host VARCHAR NOT NULL,
    target_pattern_key UBIGINT NOT NULL,
    trap VARCHAR,
    is_first BOOLEAN NOT NULL,
    lastmod TIMESTAMPTZ,
    priority DOUBLE,
    announced_by VARCHAR[],
    found_at TIMESTAMPTZ NOT NULL
);

COMMENT ON TABLE link IS 'Links from a page to a URL, sorted by target_host_key so that the target''s owner reads one range.';
COMMENT ON COLUMN link.cycle IS 'cycle of the observation that found it';
COMMENT ON COLUMN link.bucket IS 'bucket of the source';
COMMENT ON COLUMN link.epoch IS 'lease epoch of the observation';
COMMENT ON COLUMN link.sequence IS 'sequence number of the observation';
COMMENT ON COLUMN link.source_url_key IS 'key of the page, sitemap, feed or robots.txt that holds the link';
COMMENT ON COLUMN link.source_url IS 'canonical URL of the page, sitemap, feed or robots.txt that holds the link';
COMMENT ON COLUMN link.source_depth IS 'links from a seed to the source';
COMMENT ON COLUMN link.source_hops IS 'links from the hosts in scope to the source';
COMMENT ON COLUMN link.kind IS 'a, area, frame, iframe, next, refresh, header, redirect or canonical in a page; sitemap for an entry of a sitemap or feed; index (entry of a sitemap index), robots or feed for what is itself a sitemap or feed';
COMMENT ON COLUMN link.nofollow IS 'whether page or link ask not to follow it; such links are counted, not followed';
COMMENT ON COLUMN link.target_url_key IS 'key of target_url';
COMMENT ON COLUMN link.target_host_key IS 'key of target_host; its top bits are the target''s bucket';
COMMENT ON COLUMN link.target_url IS 'canonical URL';
COMMENT ON COLUMN link.target_fetch_url IS 'the URL as it stands in the page, resolved';
COMMENT ON COLUMN link.target_host IS 'host name of target_url';
COMMENT ON COLUMN link.target_pattern_key IS 'key of the target''s path pattern, see url.pattern_key';
COMMENT ON COLUMN link.trap IS 'URL-shape trap rule that stops it, e.g. max_depth; NULL if none';
COMMENT ON COLUMN link.is_first IS 'whether the source had no stored version before, so that its links count as in-links once; see page.inlinks';
COMMENT ON COLUMN link.lastmod IS 'when the sitemap or feed says that the target was changed; NULL where it says nothing or its dates say nothing of single pages';
COMMENT ON COLUMN link.priority IS 'priority that a sitemap gives the target, 0 to 1; NULL without one';
COMMENT ON COLUMN link.announced_by IS 'for a target that is a sitemap: the hosts whose robots.txt or settings name it, whose URLs it may therefore list; NULL for any other target';
COMMENT ON COLUMN link.found_at IS 'fetched_at of the observation';
