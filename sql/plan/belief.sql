-- What a bucket adds to the whole crawl's belief in change rates, from which the next plans start.
-- Reads: host_sums.
-- Grain: one row.
SELECT
    coalesce(sum(urls), 0)::BIGINT AS urls,
    {
        'k0': coalesce(sum(sums.k0), 0)::BIGINT,
        'k1': coalesce(sum(sums.k1), 0)::BIGINT,
        'k2': coalesce(sum(sums.k2), 0)::BIGINT,
        'k3': coalesce(sum(sums.k3), 0)::BIGINT,
        'k4': coalesce(sum(sums.k4), 0)::BIGINT,
        'k5': coalesce(sum(sums.k5), 0)::BIGINT,
        'k6': coalesce(sum(sums.k6), 0)::BIGINT,
        'k7': coalesce(sum(sums.k7), 0)::BIGINT
    } AS sums,
    coalesce(sum(asked), 0)::BIGINT AS asked,
    coalesce(sum(useful), 0)::BIGINT AS useful
FROM host_sums
