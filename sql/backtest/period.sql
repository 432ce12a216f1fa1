-- Every period between two checks of a URL that is replayed, and the change that is assumed in it if one was seen:
-- one, at an instant that is spread evenly over the period, the same in every replay.
-- Reads: checked, replayed_url.
-- Grain: one row per check with one before it; changed_at is NULL if the page was as before.
WITH placed AS (
    SELECT
        url_key,
        fetched_at - to_microseconds((86400e6 * days)::BIGINT) AS before_at,
        fetched_at,
        changed,
        days,
        row_number() OVER (PARTITION BY url_key ORDER BY position, fetched_at) AS number
    FROM checked
    WHERE changed IS NOT NULL AND url_key IN (SELECT url_key FROM replayed_url)
)
SELECT
    url_key,
    before_at,
    fetched_at,
    CASE WHEN changed THEN
        before_at + to_microseconds(
            -- Steps of the golden section from a start of the URL's own: even, and nothing to do with the time of day.
            (86400e6 * days * (((url_key % 1048576 + 5e-1) / 1048576 + 6.180339887e-1 * number) % 1e0))::BIGINT
        )
    END AS changed_at
FROM placed
