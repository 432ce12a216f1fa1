-- How slowly each known host must be asked, the address that it was last found at, and when it last asked for less.
-- Reads: base_host, tail_host.
-- Grain: one row per host.
SELECT host, arg_max(delay_seconds, log_position(epoch, sequence)) AS delay_seconds,
    arg_max(address, log_position(epoch, sequence)) AS address,
    max(busy_at) AS busy_at
FROM (SELECT * FROM base_host UNION ALL BY NAME SELECT * FROM tail_host)
GROUP BY host
ORDER BY host
