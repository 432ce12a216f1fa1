-- The rows of the bin in which the budget ends, best first, as many as still fit.
-- Reads: plan_files.
-- Params: bin; room, how many rows of the bin are admitted.
-- Grain: one row: the last admitted.
SELECT priority, url_key FROM plan_files WHERE priority >> 6 = $bin ORDER BY priority DESC, url_key LIMIT 1 OFFSET $room - 1
