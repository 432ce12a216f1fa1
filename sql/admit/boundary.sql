-- The last row of a bin that the budgets reach; none if not even its first fits.
-- Reads: plan_files.
-- Params: bin; room and byte_room, how many rows and bytes of the bin fit, byte_room NULL for any; new_cutoff_priority,
-- new_cutoff_url_key, after which new rows do not count.
-- Grain: one row or none.
WITH placed AS (
    SELECT
        priority,
        url_key,
        row_number() OVER best AS place,
        sum(expected_bytes) OVER best AS bytes
    FROM plan_files
    WHERE
        priority >> 6 = $bin
        AND (reason <> 'new' OR is_within(priority, url_key, $new_cutoff_priority, $new_cutoff_url_key::UBIGINT))
    WINDOW best AS (ORDER BY priority DESC, url_key ROWS UNBOUNDED PRECEDING)
)
SELECT priority, url_key
FROM placed
WHERE place <= $room AND ($byte_room::HUGEINT IS NULL OR bytes <= $byte_room::HUGEINT)
ORDER BY place DESC
LIMIT 1
