-- How much of the time from low to high a copy is fresh that goes out of date at `stale`; instants in seconds.
CREATE OR REPLACE MACRO fresh_seconds(low, high, stale) AS round(least(greatest(stale - low, 0), high - low));
