-- Millionths of belief in each rate over a group of pages; share turns a page's belief into
-- millionths. What is NULL counts nothing.
CREATE OR REPLACE MACRO belief_sums(belief, share) AS {
    'k0': coalesce(sum(round(belief.k0 * share)::BIGINT), 0)::BIGINT,
    'k1': coalesce(sum(round(belief.k1 * share)::BIGINT), 0)::BIGINT,
    'k2': coalesce(sum(round(belief.k2 * share)::BIGINT), 0)::BIGINT,
    'k3': coalesce(sum(round(belief.k3 * share)::BIGINT), 0)::BIGINT,
    'k4': coalesce(sum(round(belief.k4 * share)::BIGINT), 0)::BIGINT,
    'k5': coalesce(sum(round(belief.k5 * share)::BIGINT), 0)::BIGINT,
    'k6': coalesce(sum(round(belief.k6 * share)::BIGINT), 0)::BIGINT,
    'k7': coalesce(sum(round(belief.k7 * share)::BIGINT), 0)::BIGINT
};
