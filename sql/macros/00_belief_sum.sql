-- What the eight beliefs add up to: divide by it for probabilities.
CREATE OR REPLACE MACRO belief_sum(belief) AS (
    belief.k0 + belief.k1 + belief.k2 + belief.k3 + belief.k4 + belief.k5 + belief.k6 + belief.k7
);
