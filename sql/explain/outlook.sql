-- In how many cycles a URL may be asked for, is worth as much as the last one that was taken, and is overdue by a rule.
-- Reads: believed.
-- Params: first_at, the beginning of the next cycle, 0 in the answer; most, cycles to look ahead; objective; cutoff_priority.
-- Grain: one row; NULL for what does not happen in so many cycles.
WITH ahead AS MATERIALIZED (
    SELECT
        number,
        b.*,
        (epoch($first_at::TIMESTAMPTZ) - epoch(b.known_at)) / 86400 + number AS age,
        CASE WHEN b.signalled THEN b.signal_lag ELSE 0e0 END AS lag
    FROM believed AS b
    CROSS JOIN (SELECT unnest(range($most::BIGINT)) AS number)
),
valued AS (
    SELECT
        number,
        b_rests,
        rule_weight * page_weight
        * CASE $objective WHEN 'age' THEN age_index(belief, age, lag) ELSE freshness_index(belief, age, lag) END AS worth,
        max_interval_days <= age AS is_overdue
    FROM (
        SELECT *, coalesce((epoch($first_at::TIMESTAMPTZ) - epoch(asked_at)) / 86400 + number < rest_days, false) AS b_rests
        FROM ahead
    )
)
SELECT
    min(number) FILTER (NOT b_rests) AS due_in,
    min(number) FILTER (NOT b_rests AND priority_of(worth) >= $cutoff_priority) AS worth_in,
    min(number) FILTER (NOT b_rests AND is_overdue) AS overdue_in
FROM valued
