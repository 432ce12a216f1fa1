-- What is left of evidence after so many generations, in 1/1024: half after two of them, 180 days; nothing after 20.
CREATE OR REPLACE MACRO evidence_weight(generations) AS CASE
    WHEN generations <= 0 THEN 1024
    WHEN generations >= 20 THEN 0
    ELSE round(1024 * pow(2e0, -5e-1 * generations))::INTEGER
END;
