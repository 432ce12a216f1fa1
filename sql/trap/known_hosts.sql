-- The hosts that rules of traps look at.
-- Reads: watched, state_page, arriving_url.
-- Grain: one row per host.
SELECT DISTINCT host_key, host FROM state_page WHERE host_key IN (SELECT host_key FROM watched)
UNION
SELECT host_key, host FROM arriving_url
