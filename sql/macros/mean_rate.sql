-- The mean of the believed change rates, a day. For people: the index averages what follows from a rate, not the rate.
CREATE OR REPLACE MACRO mean_rate(belief) AS (
    belief.k0 * 4.8828125e-4
    + belief.k1 * 1.953125e-3
    + belief.k2 * 7.8125e-3
    + belief.k3 * 3.125e-2
    + belief.k4 * 1.25e-1
    + belief.k5 * 5e-1
    + belief.k6 * 2e0
    + belief.k7 * 8e0
) / belief_sum(belief);
