-- Requests that were one too many for their address: more than 60 / address_delay_seconds + buckets in a minute.
-- Buckets that do not know of each other's hosts there are counted apart, since they share its rate from the next cycle.
-- A hundredth of a second of the minute is left to the rounding of clocks.
CREATE OR REPLACE MACRO early_at_address(observations, robots_requests) AS TABLE
WITH counted AS (
    SELECT
        *,
        CASE WHEN address_buckets = 1 THEN bucket END AS alone,
        count(*) OVER minute AS requests,
        floor(60 / min(address_delay_seconds) OVER minute)::INTEGER + max(address_buckets) OVER minute AS most
    FROM asked(observations, robots_requests)
    WHERE address IS NOT NULL AND address_delay_seconds > 0
    WINDOW minute AS (
        PARTITION BY address, alone ORDER BY fetched_at RANGE BETWEEN INTERVAL 59990 MILLISECONDS PRECEDING AND CURRENT ROW
    )
),
found AS (
    SELECT
        *,
        lag(fetched_at, most) OVER (PARTITION BY address, alone ORDER BY fetched_at, ended_at, url)
        + INTERVAL 60 SECONDS AS allowed_at
    FROM counted
    QUALIFY requests > most
)
SELECT host, url, cycle, fetched_at, 'address' AS rule, allowed_at, epoch(allowed_at) - epoch(fetched_at) AS early_seconds
FROM found;
