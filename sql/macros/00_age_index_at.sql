-- What fetching a page now is worth if a page is the worse the more of its changes were missed: the n-th costs 1 / n
-- (the harmonic penalty of LambdaCrawl, NeurIPS 2019). After t days that is h(t) = Ein(rate t), the integral of
-- (1 - exp(-u)) / u up to rate t. The price of a fetch at which it pays at age `days` is days h(days) less the integral of h
-- up to there, which is days - (1 - exp(-rate days)) / rate: the days that the copy is expected to have been out of date.
-- It has no upper bound, so no page is let go, however fast it changes.
CREATE OR REPLACE MACRO age_index_at(rate, days) AS (days - (1e0 - exp(-rate * days)) / rate);
