-- Every known URL with whether a cycle would fetch it and why, over all buckets.
-- Reads: standing_files.
-- Params: cutoff_priority, cutoff_url_key; new_cutoff_priority, new_cutoff_url_key, which new rows have besides.
-- Grain: one row per URL. reason: of what is in, what chose it; else the first thing that keeps it out.
WITH judged AS (
    SELECT
        * EXCLUDE (chosen_by, left_out),
        CASE
            WHEN left_out IS NOT NULL THEN left_out
            WHEN
                chosen_by = 'new'
                AND NOT is_within(priority, url_key, $new_cutoff_priority, $new_cutoff_url_key::UBIGINT)
                THEN 'new_share'
            WHEN NOT is_within(priority, url_key, $cutoff_priority, $cutoff_url_key::UBIGINT) THEN 'below_cutoff'
        END AS out_by,
        chosen_by
    FROM standing_files
)
SELECT
    out_by IS NULL AS is_in,
    coalesce(out_by, chosen_by) AS reason,
    * EXCLUDE (out_by, chosen_by)
FROM judged
