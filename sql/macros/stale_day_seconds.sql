-- The age of a copy, in days since it went out of date at `stale`, summed over the seconds from low to high.
CREATE OR REPLACE MACRO stale_day_seconds(low, high, stale) AS round(
    (pow(greatest(high - stale, 0), 2) - pow(greatest(low - stale, 0), 2)) / 172800
);
