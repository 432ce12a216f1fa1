-- What went to the hosts, and what came back.
-- Reads: observation, robots, politeness_audit.
-- Grain: one row.
SELECT
    count(*) FILTER (sent) AS pages,
    (SELECT count(*) FROM robots WHERE sent) AS robots,
    count(*) FILTER (conditional AND sent) AS conditional,
    count(*) FILTER (outcome = 'not_modified') AS not_modified,
    coalesce(sum(wire_bytes), 0)::BIGINT AS wire_bytes,
    coalesce(sum(saved_bytes), 0)::BIGINT AS saved_bytes,
    (SELECT count(*) FROM politeness_audit) AS violations
FROM observation
