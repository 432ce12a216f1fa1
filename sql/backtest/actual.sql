-- What the lake's own copies were worth from one instant to another, and how often it fetched.
-- Reads: replayed_period.
-- Params: since, until.
-- Grain: one row: what backtest/fetched and backtest/measured count.
WITH spans AS (
    SELECT
        greatest(epoch(before_at), epoch($since::TIMESTAMPTZ)) AS low,
        least(epoch(fetched_at), epoch($until::TIMESTAMPTZ)) AS high,
        coalesce(epoch(changed_at), 'infinity'::DOUBLE) AS stale,
        fetched_at >= $since::TIMESTAMPTZ AND fetched_at < $until::TIMESTAMPTZ AS is_inside,
        changed_at
    FROM replayed_period
    WHERE before_at < $until::TIMESTAMPTZ AND fetched_at > $since::TIMESTAMPTZ
)
SELECT
    count(*) FILTER (is_inside) AS fetches,
    count(*) FILTER (is_inside AND changed_at IS NOT NULL) AS changed,
    coalesce(sum(round(high - low)), 0)::BIGINT AS seconds,
    coalesce(sum(fresh_seconds(low, high, stale)), 0)::BIGINT AS fresh_seconds,
    coalesce(sum(stale_day_seconds(low, high, stale)), 0)::BIGINT AS stale_day_seconds
FROM spans
