-- The generation of 90 days that an instant is in; evidence of one generation is forgotten together.
CREATE OR REPLACE MACRO evidence_generation(instant) AS floor(epoch(instant) / 7776e3)::INTEGER;
