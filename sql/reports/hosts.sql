-- Which hosts were asked most, how fast do they answer, what do they bring, and what limits us there?
-- Reads: host.
-- Grain: one row per host, at most fifty. trouble: what came of asking where it was no success, most first, at most three.
SELECT
    host,
    bucket,
    known_urls,
    fetched_urls,
    requests,
    failures,
    array_to_string(
        list_transform(
            list_sort(
                list_filter(map_entries(outcomes), lambda entry: NOT is_success(entry.key))
                .list_transform(lambda entry: {'observations': entry.value, 'outcome': entry.key}),
                'DESC'
            )[:3],
            lambda entry: entry.observations || ' ' || entry.outcome
        ),
        ', '
    ) AS trouble,
    round(100 * new_share, 1) AS percent_new,
    wire_bytes,
    round(100 * saved_bytes / nullif(wire_bytes + saved_bytes, 0), 1) AS percent_saved,
    round(response_p50_seconds, 3) AS p50_seconds,
    round(response_p90_seconds, 3) AS p90_seconds,
    round(response_p99_seconds, 3) AS p99_seconds,
    round(delay_seconds, 2) AS delay_seconds,
    lane,
    left(robots_version, 12) AS robots,
    budget_urls,
    budget_because,
    held_because
FROM host
ORDER BY requests DESC, host
LIMIT 50
