-- freshness_index_at averaged over the belief in the rates: exact, since it is linear in the fresh days of a period.
-- lag: -ln(1 - p) where a signal says with trust p that the page has changed, which ages it by lag / rate; else 0.
CREATE OR REPLACE MACRO freshness_index(belief, days, lag) AS (
    belief.k0 * freshness_index_at(4.8828125e-4, least(days + lag / 4.8828125e-4, 3650e0))
    + belief.k1 * freshness_index_at(1.953125e-3, least(days + lag / 1.953125e-3, 3650e0))
    + belief.k2 * freshness_index_at(7.8125e-3, least(days + lag / 7.8125e-3, 3650e0))
    + belief.k3 * freshness_index_at(3.125e-2, least(days + lag / 3.125e-2, 3650e0))
    + belief.k4 * freshness_index_at(1.25e-1, least(days + lag / 1.25e-1, 3650e0))
    + belief.k5 * freshness_index_at(5e-1, least(days + lag / 5e-1, 3650e0))
    + belief.k6 * freshness_index_at(2e0, least(days + lag / 2e0, 3650e0))
    + belief.k7 * freshness_index_at(8e0, least(days + lag / 8e0, 3650e0))
) / belief_sum(belief);
