-- The hosts on which new content is rare, with what they are worth.
-- Reads: host_size.
-- Grain: one row per host.
SELECT host, texts FROM host_size ORDER BY host
