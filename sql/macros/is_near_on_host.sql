-- Whether a page is a near copy of another of its own host, so that its text is nothing new there.
CREATE OR REPLACE MACRO is_near_on_host(near_of, host) AS
near_of IS NOT NULL AND regexp_replace(split_part(near_of, '/', 3), ':[0-9]+$', '') = host;
