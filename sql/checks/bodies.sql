-- fail: an observation says that its body was stored, and neither a capture has it nor another observation holds it.
-- Reads: cycle_observation, cycle_capture, cycle_copy.
-- Grain: one row per such observation.
SELECT o.url, o.fetched_at
FROM cycle_observation AS o
LEFT JOIN cycle_copy AS c
    ON c.kind = 'body' AND NOT c.is_holder AND c.bucket = o.bucket AND c.url_key = o.url_key
    AND c.observed_epoch = o.epoch AND c.observed_sequence = o.sequence
WHERE o.stored AND c.url_key IS NULL AND o.body_digest NOT IN (SELECT body_digest FROM cycle_capture)
ORDER BY o.url
