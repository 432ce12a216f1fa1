-- What the copies are worth from one instant to another, over the pages whose changes are known then.
-- Reads: replayed_copy.
-- Params: since, until.
-- Grain: one row: seconds of pages, those of them in which the copy was fresh, and its age summed in days times seconds.
WITH spans AS (
    SELECT
        greatest(epoch(first_at), epoch($since::TIMESTAMPTZ)) AS low,
        least(epoch(last_at), epoch($until::TIMESTAMPTZ)) AS high,
        coalesce(epoch(stale_at), 'infinity'::DOUBLE) AS stale
    FROM replayed_copy
    WHERE first_at < $until::TIMESTAMPTZ AND last_at > $since::TIMESTAMPTZ
)
SELECT
    coalesce(sum(round(high - low)), 0)::BIGINT AS seconds,
    coalesce(sum(fresh_seconds(low, high, stale)), 0)::BIGINT AS fresh_seconds,
    coalesce(sum(stale_day_seconds(low, high, stale)), 0)::BIGINT AS stale_day_seconds
FROM spans
