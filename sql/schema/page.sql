-- The folded state of one URL: what a checkpoint holds and the view page shows.
CREATE TABLE page (
    bucket USMALLINT NOT NULL,
    url_key UBIGINT NOT NULL,
    host_key UBIGINT NOT NULL,
    host VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    fetch_url VARCHAR NOT NULL,
    pattern_key UBIGINT NOT NULL,
    depth USMALLINT NOT NULL,
    hops USMALLINT NOT NULL,
    is_seed BOOLEAN NOT NULL,
    discovered_at TIMESTAMPTZ NOT NULL,
    is_sitemap BOOLEAN NOT NULL,
    announced_by VARCHAR[],
    inlinks UINTEGER NOT NULL,
    lastmod TIMESTAMPTZ,
    sitemap_priority DOUBLE,
    outcome VARCHAR,
    status USMALLINT,
    robots_digest BLOB,
    streak USMALLINT NOT NULL,
    last_cycle DATE,
    asked_at TIMESTAMPTZ,
    fetched_at TIMESTAMPTZ,
    changed_at TIMESTAMPTZ,
    fetches UINTEGER NOT NULL,
    changes UINTEGER NOT NULL,
    etag VARCHAR,
    last_modified VARCHAR,
    body_digest BLOB,
    text_digest BLOB,
    copy_digest BLOB,
    simhash UBIGINT,
    text_bytes UINTEGER,
    body_bytes UBIGINT,
    title VARCHAR,
    language VARCHAR,
    noindex BOOLEAN,
    redirect_url VARCHAR,
    canonical_url VARCHAR,
    duplicate_of VARCHAR,
    near_of VARCHAR,
    last_epoch UINTEGER NOT NULL,
    is_alias BOOLEAN NOT NULL,
    checked_at TIMESTAMPTZ,
    is_live BOOLEAN,
    checks UINTEGER NOT NULL,
    evidence STRUCT(
        k0 INTEGER, k1 INTEGER, k2 INTEGER, k3 INTEGER, k4 INTEGER, k5 INTEGER, k6 INTEGER, k7 INTEGER
    ),
    evidence_generation INTEGER,
    hints STRUCT(
        modified UINTEGER, modified_true UINTEGER,
        signalled UINTEGER, signalled_true UINTEGER,
        rapid UINTEGER, rapid_changed UINTEGER
    )
);

COMMENT ON TABLE page IS 'The folded state of one URL: what a checkpoint holds and the view page shows.';
COMMENT ON COLUMN page.bucket IS 'bucket';
COMMENT ON COLUMN page.url_key IS 'key of the URL';
COMMENT ON COLUMN page.host_key IS 'key of the host';
COMMENT ON COLUMN page.host IS 'host name';
COMMENT ON COLUMN page.url IS 'canonical URL';
COMMENT ON COLUMN page.fetch_url IS 'URL to request';
COMMENT ON COLUMN page.pattern_key IS 'key of host and path with digits and tokens folded (upper 44 bits), number of query parameters (4) and their names (16)';
COMMENT ON COLUMN page.depth IS 'links from a seed';
COMMENT ON COLUMN page.hops IS 'links from the hosts in scope';
COMMENT ON COLUMN page.is_seed IS 'whether an operator named it';
COMMENT ON COLUMN page.discovered_at IS 'instant at which it became known';
COMMENT ON COLUMN page.is_sitemap IS 'whether robots.txt, settings, a sitemap index or a page names it as a sitemap or feed';
COMMENT ON COLUMN page.announced_by IS 'hosts whose robots.txt or settings name this sitemap, in order; it may list their URLs beside those of its own host. NULL if none do';
COMMENT ON COLUMN page.inlinks IS 'other pages that linked to it, without nofollow, when they were first fetched';
COMMENT ON COLUMN page.lastmod IS 'latest change that a sitemap or feed has claimed for it: a hint, see observation.signalled for what came of it';
COMMENT ON COLUMN page.sitemap_priority IS 'priority that a sitemap gave it last, 0 to 1; no part of the ranking unless a rule of yours uses it';
COMMENT ON COLUMN page.outcome IS 'last outcome; NULL if never asked';
COMMENT ON COLUMN page.status IS 'last HTTP status';
COMMENT ON COLUMN page.robots_digest IS 'SHA-256 of the robots.txt that denies it; NULL unless that is its last outcome';
COMMENT ON COLUMN page.streak IS 'observations in a row of the kind of the last outcome (absent, denied, error); 0 after a success';
COMMENT ON COLUMN page.last_cycle IS 'cycle of the last observation';
COMMENT ON COLUMN page.asked_at IS 'fetched_at of the last observation';
COMMENT ON COLUMN page.fetched_at IS 'fetched_at of the last success (ok, not_modified, redirected)';
COMMENT ON COLUMN page.changed_at IS 'fetched_at of the last observation with new content';
COMMENT ON COLUMN page.fetches IS 'successes so far';
COMMENT ON COLUMN page.changes IS 'times that the content had changed';
COMMENT ON COLUMN page.etag IS 'validator of the stored version';
COMMENT ON COLUMN page.last_modified IS 'validator of the stored version';
COMMENT ON COLUMN page.body_digest IS 'SHA-256 of the current version';
COMMENT ON COLUMN page.text_digest IS 'SHA-256 of its normalised text';
COMMENT ON COLUMN page.copy_digest IS 'SHA-256 of its text and outlinks';
COMMENT ON COLUMN page.simhash IS 'its SimHash';
COMMENT ON COLUMN page.text_bytes IS 'bytes of its normalised text';
COMMENT ON COLUMN page.body_bytes IS 'bytes of its body';
COMMENT ON COLUMN page.title IS 'its title';
COMMENT ON COLUMN page.language IS 'primary subtag of its declared language, e.g. pt';
COMMENT ON COLUMN page.noindex IS 'whether it asks not to be indexed; NULL if it was never fetched';
COMMENT ON COLUMN page.redirect_url IS 'where it redirects to; NULL unless the last success was a redirect';
COMMENT ON COLUMN page.canonical_url IS 'what its rel=canonical names';
COMMENT ON COLUMN page.duplicate_of IS 'canonical URL that brought the same content first; NULL unless it is a copy';
COMMENT ON COLUMN page.near_of IS 'canonical URL of the page that stands for its near copies, exact ones among them; NULL if it stands for itself';
COMMENT ON COLUMN page.last_epoch IS 'epoch of the last observation, 0 if none';
COMMENT ON COLUMN page.is_alias IS 'whether its rel=canonical names another URL';
COMMENT ON COLUMN page.checked_at IS 'fetched_at of the check that the next one is compared with: the last that found the page, or nothing (gone). NULL before the first, and after a redirect';
COMMENT ON COLUMN page.is_live IS 'whether that check found a page; false if it was gone';
COMMENT ON COLUMN page.checks IS 'checks that were compared with one before, and so are evidence of how often it changes';
COMMENT ON COLUMN page.evidence IS 'log-likelihood of those checks at 2^-11, 2^-9 ... 2^3 changes a day, in 1/1024 nat, as of evidence_generation; NULL without one';
COMMENT ON COLUMN page.evidence_generation IS 'the 90 days that the last evidence is of, counted from 1970; evidence counts half after two of them';
COMMENT ON COLUMN page.hints IS 'checks that could tell whether Last-Modified is true, and that found it so; checks after a sitemap claimed a change, and that found one; fetches within an hour, and that found other text';
