-- age_index_at averaged over the belief in the rates; lag as in freshness_index.
CREATE OR REPLACE MACRO age_index(belief, days, lag) AS (
    belief.k0 * age_index_at(4.8828125e-4, least(days + lag / 4.8828125e-4, 3650e0))
    + belief.k1 * age_index_at(1.953125e-3, least(days + lag / 1.953125e-3, 3650e0))
    + belief.k2 * age_index_at(7.8125e-3, least(days + lag / 7.8125e-3, 3650e0))
    + belief.k3 * age_index_at(3.125e-2, least(days + lag / 3.125e-2, 3650e0))
    + belief.k4 * age_index_at(1.25e-1, least(days + lag / 1.25e-1, 3650e0))
    + belief.k5 * age_index_at(5e-1, least(days + lag / 5e-1, 3650e0))
    + belief.k6 * age_index_at(2e0, least(days + lag / 2e0, 3650e0))
    + belief.k7 * age_index_at(8e0, least(days + lag / 8e0, 3650e0))
) / belief_sum(belief);
