-- The days out of so many that a copy is fresh of a page that changes at a known rate a day.
CREATE OR REPLACE MACRO fresh_days_at(rate, days) AS ((1e0 - exp(-rate * days)) / rate);
