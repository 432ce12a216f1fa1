-- A URL's row in a plan.
-- Reads: plan_files.
-- Params: url_key.
-- Grain: one row if the plan holds the URL, else none.
SELECT priority, host_rank, reason FROM plan_files WHERE url_key = $url_key::UBIGINT
