-- What a survey has added up for each host, and nothing for hosts that are younger.
-- Reads: survey_host, ready_page.
-- Grain: one row per host, as host_sums.
FROM survey_host
UNION ALL BY NAME
SELECT
    host_key,
    0::BIGINT AS urls,
    no_evidence() AS sums,
    0::BIGINT AS asked,
    0::BIGINT AS useful,
    0::UBIGINT AS body_bytes,
    0::BIGINT AS bodies,
    {'modified': 0, 'modified_true': 0, 'signalled': 0, 'signalled_true': 0, 'rapid': 0, 'rapid_changed': 0} AS hints
FROM (SELECT DISTINCT host_key FROM ready_page)
WHERE host_key NOT IN (SELECT host_key FROM survey_host)
