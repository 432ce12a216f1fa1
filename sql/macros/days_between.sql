-- Days from an instant to a later one; of microseconds, since epoch() is slow.
CREATE OR REPLACE MACRO days_between(earlier, later) AS (epoch_us(later) - epoch_us(earlier)) / 864e8;
