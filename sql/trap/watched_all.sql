-- What rules of traps look at to count what they keep out of plans: every URL.
-- Reads: trap_page.
-- Grain: one row per URL.
SELECT url_key, host_key, pattern_key, text FROM trap_page
