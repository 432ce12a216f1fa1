-- The value that priority_of made a priority of, but for the rounding.
CREATE OR REPLACE MACRO value_of(priority) AS pow(2e0, priority / 4096e0);
