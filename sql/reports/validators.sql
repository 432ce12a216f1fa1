-- What do validators save at each host, and do they tell the truth? A host that lies is asked without them for a while.
-- Reads: observation, newest_host.
-- Grain: one row per host with validators, most bytes saved first, at most fifty.
WITH asked AS (
    SELECT
        host_key,
        any_value(host) AS host,
        count(*) FILTER (conditional) AS conditional,
        count(*) FILTER (outcome = 'not_modified') AS not_modified,
        count(*) FILTER (audit) AS audits,
        sum(saved_bytes)::BIGINT AS saved_bytes,
        sum(wire_bytes)::BIGINT AS wire_bytes
    FROM observation
    WHERE conditional OR audit
    GROUP BY host_key
)
SELECT
    asked.host,
    asked.conditional,
    asked.not_modified,
    asked.audits,
    h.validator_audits AS recent_audits,
    h.validator_lies AS recent_lies,
    asked.saved_bytes,
    round(100 * asked.saved_bytes / nullif(asked.saved_bytes + asked.wire_bytes, 0), 1) AS percent_saved
FROM asked
LEFT JOIN newest_host AS h USING (host_key)
ORDER BY asked.saved_bytes DESC, asked.host
LIMIT 50
