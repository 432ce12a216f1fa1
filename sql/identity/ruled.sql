-- The known URLs whose identity a rule of the settings may have changed.
-- Reads: state_page.
-- Params: ruled_hosts, those with rules of their own; everywhere, whether rules about queries hold for all.
-- Grain: one row per URL.
SELECT url_key, url
FROM state_page
WHERE list_contains($ruled_hosts::VARCHAR[], host) OR ($everywhere::BOOLEAN AND contains(url, '?'))
ORDER BY url_key
