-- What runs know of the digests that arrive.
-- Reads: found_copy (rows of runs).
-- Grain: one row per digest, kind and run that knows it.
SELECT kind::VARCHAR AS kind, digest::BLOB AS digest, first_url, held_on FROM found_copy
