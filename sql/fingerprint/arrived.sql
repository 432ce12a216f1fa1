-- The pages of any bucket whose text is new since the marks and has a SimHash, by their newest observation.
-- Reads: came.
-- Grain: one row per URL.
WITH brought AS (
    SELECT *
    FROM came
    QUALIFY row_number() OVER (PARTITION BY bucket, url_key ORDER BY epoch DESC, sequence DESC) = 1
),
named AS (
    SELECT DISTINCT canonical_url AS url FROM brought WHERE canonical_url <> url
)
SELECT
    b.bucket,
    b.url_key,
    b.url,
    b.canonical_url,
    3 + canonical_rank(b.url, b.canonical_url, named.url) AS standing,
    b.epoch AS observed_epoch,
    b.sequence AS observed_sequence,
    b.body_digest,
    b.simhash
FROM brought AS b
LEFT JOIN named ON named.url = b.url
WHERE b.simhash IS NOT NULL AND b.content_changed IS DISTINCT FROM false
