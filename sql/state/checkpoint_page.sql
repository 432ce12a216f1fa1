-- The rows of a checkpoint, hosts together so that a plan or a merge reads few row groups for a host.
-- Reads: state_page.
-- Grain: one row per URL, columns of page.
FROM state_page ORDER BY host_key, url_key
