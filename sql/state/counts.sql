-- How large the checkpoint and the tail over it are.
-- Reads: base_page, touched.
-- Grain: one row.
SELECT (SELECT count(*) FROM base_page) AS checkpoint_rows, (SELECT count(*) FROM touched) AS touched_rows
