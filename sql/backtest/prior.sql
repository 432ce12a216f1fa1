-- What is believed of a host's pages before one of them is looked at: the mean belief in those that are known.
-- Reads: replayed_known.
-- Grain: one row per host, and one with host '' for all.
WITH summed AS (
    SELECT
        coalesce(host, '') AS host,
        count(*) AS urls,
        {
            'k0': sum(round(1e6 * belief.k0 / belief_sum(belief))::BIGINT),
            'k1': sum(round(1e6 * belief.k1 / belief_sum(belief))::BIGINT),
            'k2': sum(round(1e6 * belief.k2 / belief_sum(belief))::BIGINT),
            'k3': sum(round(1e6 * belief.k3 / belief_sum(belief))::BIGINT),
            'k4': sum(round(1e6 * belief.k4 / belief_sum(belief))::BIGINT),
            'k5': sum(round(1e6 * belief.k5 / belief_sum(belief))::BIGINT),
            'k6': sum(round(1e6 * belief.k6 / belief_sum(belief))::BIGINT),
            'k7': sum(round(1e6 * belief.k7 / belief_sum(belief))::BIGINT)
        } AS sums
    FROM replayed_known
    GROUP BY GROUPING SETS ((host), ())
)
SELECT own.host, log_prior(own.sums, own.urls, general.sums, general.urls) AS log_prior
FROM summed AS own
JOIN summed AS general ON general.host = ''
