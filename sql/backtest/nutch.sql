-- What each page is worth by the adaptive rule of Apache Nutch: how long it has been due.
-- Reads: replayed_known.
-- Params: at.
-- Grain: one row per URL that is due.
SELECT url_key, epoch($at::TIMESTAMPTZ) - epoch(due_at) AS value FROM replayed_known WHERE due_at <= $at::TIMESTAMPTZ
