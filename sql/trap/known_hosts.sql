-- The hosts that a bucket knows URLs of, or learns of.
-- Reads: state_page, arriving_url.
-- Grain: one row per host.
SELECT host_key, host FROM state_page
UNION
SELECT host_key, host FROM arriving_url
