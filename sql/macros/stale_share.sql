-- The probability that a page has changed in so many days.
CREATE OR REPLACE MACRO stale_share(belief, days) AS (
    belief.k0 * (1e0 - exp(-4.8828125e-4 * days))
    + belief.k1 * (1e0 - exp(-1.953125e-3 * days))
    + belief.k2 * (1e0 - exp(-7.8125e-3 * days))
    + belief.k3 * (1e0 - exp(-3.125e-2 * days))
    + belief.k4 * (1e0 - exp(-1.25e-1 * days))
    + belief.k5 * (1e0 - exp(-5e-1 * days))
    + belief.k6 * (1e0 - exp(-2e0 * days))
    + belief.k7 * (1e0 - exp(-8e0 * days))
) / belief_sum(belief);
