-- fail: an observation says that its body was stored, and no capture of the cycle or holder of the digest has it.
-- Reads: cycle_observation, cycle_capture, cycle_copy.
-- Grain: one row per such observation.
SELECT o.url, o.fetched_at
FROM cycle_observation AS o
WHERE
    o.stored
    AND o.body_digest NOT IN (SELECT body_digest FROM cycle_capture)
    AND o.body_digest NOT IN (SELECT digest FROM cycle_copy WHERE kind = 'body')
ORDER BY o.url
