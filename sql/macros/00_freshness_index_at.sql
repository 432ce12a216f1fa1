-- What fetching a page now is worth that changes at a known rate a day and was fetched so many days ago, in days of
-- freshness: the discrete Whittle index for cycles of a day. It is the price of a fetch at which a period of `days`
-- and one that is a day longer earn the same: with R(t) = (1 - exp(-rate t)) / rate the fresh days of a period t,
-- (R(n) - V) / n = (R(n + 1) - V) / (n + 1). Grows with days up to 1 / rate: what changes faster than we look is let go.
CREATE OR REPLACE MACRO freshness_index_at(rate, days) AS (
    1e0 / rate * (1e0 - exp(-rate * days) * (1e0 + days * (1e0 - exp(-rate))))
);
