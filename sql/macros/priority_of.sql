-- The one number by which URLs are compared: 4096 log2 of their value, rounded down.
CREATE OR REPLACE MACRO priority_of(value) AS floor(4096 * log2(greatest(value, 1e-12)))::INTEGER;
