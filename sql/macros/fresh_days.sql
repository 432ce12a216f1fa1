-- The days out of so many that a copy made now is expected to be fresh: what the first fetch of a page is worth.
CREATE OR REPLACE MACRO fresh_days(belief, days) AS (
    belief.k0 * fresh_days_at(4.8828125e-4, days)
    + belief.k1 * fresh_days_at(1.953125e-3, days)
    + belief.k2 * fresh_days_at(7.8125e-3, days)
    + belief.k3 * fresh_days_at(3.125e-2, days)
    + belief.k4 * fresh_days_at(1.25e-1, days)
    + belief.k5 * fresh_days_at(5e-1, days)
    + belief.k6 * fresh_days_at(2e0, days)
    + belief.k7 * fresh_days_at(8e0, days)
) / belief_sum(belief);
