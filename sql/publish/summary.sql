-- What a cycle did, in numbers.
-- Reads: cycle_observation, cycle_admitted.
-- Grain: one row.
SELECT
    (SELECT coalesce(sum(admitted), 0)::BIGINT FROM cycle_admitted) AS admitted,
    count(*) AS observed,
    count(*) FILTER (sent) AS requested,
    count(*) FILTER (is_success(outcome)) AS succeeded,
    count(*) FILTER (outcome = 'not_modified') AS not_modified,
    count(*) FILTER (late) AS late,
    coalesce(sum(wire_bytes), 0)::BIGINT AS wire_bytes,
    coalesce(sum(saved_bytes), 0)::BIGINT AS saved_bytes
FROM cycle_observation
