-- The class of a response time in microseconds: 0 below 1 ms, class c from 2^((c - 1) / 4) to 2^(c / 4) ms; 81 from 2^20 ms on.
CREATE OR REPLACE MACRO response_class(microseconds) AS
CASE WHEN microseconds < 1000 THEN 0 ELSE least(1 + floor(4 * log2(microseconds / 1e3)), 81)::UTINYINT END;
