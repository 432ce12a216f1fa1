-- Those of the arrived pages that a shard answers for: the pages of the bucket with its number.
-- Reads: arrived.
-- Params: shard.
-- Grain: one row per URL.
SELECT url_key, url, canonical_url, standing, simhash FROM arrived WHERE bucket = $shard
