-- How many URLs of a short list a plan takes, and how many known ones it could take.
-- Reads: ranked.
-- Params: budget.
-- Grain: one row.
SELECT
    count(*) FILTER (bucket_rank <= $budget) AS taken,
    count(*) FILTER (host_rank <= cap AND reason <> 'new') AS known
FROM ranked
