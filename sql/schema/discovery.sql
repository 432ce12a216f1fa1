-- What a fetch task made of the links that it found to hosts of its bucket: which of them it could fetch at once.
CREATE TABLE discovery (
    cycle DATE NOT NULL,
    bucket USMALLINT NOT NULL,
    epoch UINTEGER NOT NULL,
    sequence UINTEGER NOT NULL,
    room UINTEGER NOT NULL,
    links UBIGINT NOT NULL,
    unseen UBIGINT NOT NULL,
    maybe_seen UBIGINT NOT NULL,
    wrongly_seen UBIGINT NOT NULL,
    rejected UBIGINT NOT NULL,
    left_over UBIGINT NOT NULL,
    taken UBIGINT NOT NULL,
    filter_keys UBIGINT NOT NULL,
    filter_bytes UBIGINT NOT NULL
);

COMMENT ON TABLE discovery IS 'What a fetch task made of the links that it found to hosts of its bucket: which of them it could fetch at once.';
COMMENT ON COLUMN discovery.cycle IS 'cycle';
COMMENT ON COLUMN discovery.bucket IS 'bucket';
COMMENT ON COLUMN discovery.epoch IS 'lease epoch of the task';
COMMENT ON COLUMN discovery.sequence IS 'sequence number of its last write';
COMMENT ON COLUMN discovery.room IS 'URLs that it was to fetch in the cycle in which it found them, at most';
COMMENT ON COLUMN discovery.links IS 'links in pages that it could follow: to hosts of the bucket, not nofollow, to no sitemap, stopped by no shape of the URL; each URL once a page, and none once the room was used up';
COMMENT ON COLUMN discovery.unseen IS 'distinct URLs among them that were certainly new, which the seen filter says alone';
COMMENT ON COLUMN discovery.maybe_seen IS 'distinct URLs among them that the filter knows, or takes for known; left to merge';
COMMENT ON COLUMN discovery.wrongly_seen IS 'those of maybe_seen that were new: false positives of the filter; merge makes them known';
COMMENT ON COLUMN discovery.rejected IS 'those of unseen that scope, a purge or a limit of [traps] keeps out of this cycle; merge decides';
COMMENT ON COLUMN discovery.left_over IS 'those of unseen whose page repeats the text of another, or for which the cycle or the host had no room; merge decides';
COMMENT ON COLUMN discovery.taken IS 'those of unseen that became targets of the task; what came of them is in observation';
COMMENT ON COLUMN discovery.filter_keys IS 'URLs in the seen filter at the end';
COMMENT ON COLUMN discovery.filter_bytes IS 'size of the seen filter';
