-- A share of hits in n trials that the true one is above with 95 % confidence; a hint has to earn it.
CREATE OR REPLACE MACRO lower_bound(hits, n) AS (
    (hits + 1) / (n + 4e0) - 1.64e0 * sqrt((hits + 1) / (n + 4e0) * (1e0 - (hits + 1) / (n + 4e0)) / (n + 4e0))
);
