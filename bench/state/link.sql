-- The links of the pages that a fetch brought: a tenth of the targets nobody has seen, four fifths within the host.
-- Reads: observed (rows of observation), plan_files, layout.
-- Params: cycle, bucket, buckets, width, urls (of a bucket), links (of a page), epoch, sequence.
-- Grain: one row per link, columns of link.
WITH source AS (
    SELECT
        o.url_key,
        o.url,
        o.host,
        o.fetched_at,
        p.depth,
        p.hops,
        p.is_new,
        regexp_extract(o.host, '-([0-9]+)[.]', 1)::BIGINT AS host_rank,
        unnest(range($links::BIGINT)) AS place
    FROM observed AS o
    JOIN plan_files AS p USING (url_key)
    WHERE o.outcome = 'ok'
),
drawn AS (
    SELECT
        *,
        hash(url_key, place, $cycle::DATE) AS chance,
        chance % 10 = 0 AS is_found,
        (chance >> 8) % 5 > 0 AS is_inside,
        CASE WHEN is_inside THEN $bucket ELSE (chance >> 16) % $buckets END::BIGINT AS target_bucket,
        ((chance >> 24) % $urls)::BIGINT AS target_place
    FROM source
),
placed AS (
    SELECT
        d.*,
        CASE WHEN d.is_inside THEN d.host_rank ELSE l.host_rank END AS target_rank,
        own.size AS own_size,
        l.size AS other_size
    FROM drawn AS d
    ASOF JOIN layout AS l ON d.target_place >= l.start
    JOIN layout AS own ON own.host_rank = d.host_rank
),
aimed AS (
    SELECT
        *,
        CASE
            -- Two pages in three that are found are found by one link alone.
            WHEN is_found THEN 100000000 + datediff('day', DATE '2000-01-01', $cycle::DATE) * 1000000::BIGINT + (chance >> 30)::BIGINT % 400000
            ELSE (chance >> 30)::BIGINT % CASE WHEN is_inside THEN own_size ELSE other_size END
        END AS number
    FROM placed
),
named AS (
    SELECT
        *,
        web_host_key(target_bucket, target_rank, $width::UBIGINT) AS target_host_key,
        web_url(target_bucket, target_rank, number) AS target_url
    FROM aimed
)
SELECT
    $cycle::DATE AS cycle,
    $bucket AS bucket,
    $epoch AS epoch,
    $sequence AS sequence,
    url_key AS source_url_key,
    url AS source_url,
    depth AS source_depth,
    hops AS source_hops,
    'a' AS kind,
    false AS nofollow,
    web_url_key(target_bucket, target_rank, number) AS target_url_key,
    target_host_key,
    target_url,
    target_url AS target_fetch_url,
    web_host(target_bucket, target_rank) AS target_host,
    web_pattern_key(target_host_key, number) AS target_pattern_key,
    NULL::VARCHAR AS trap,
    is_new AS is_first,
    NULL::TIMESTAMPTZ AS lastmod,
    NULL::DOUBLE AS priority,
    NULL::VARCHAR[] AS announced_by,
    fetched_at AS found_at
FROM named
ORDER BY target_host_key, target_url_key, source_url_key, kind
