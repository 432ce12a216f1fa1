-- In how many cycles a URL may be asked for, is worth as much as the last one that was taken, and is overdue by a rule.
-- Its evidence is forgotten meanwhile as it would be; what else becomes known of its host is not foreseen.
-- Reads: believed.
-- Params: first_at, the beginning of the next cycle, 0 in the answer; most, cycles to look ahead; objective; cutoff_priority.
-- Grain: one row; NULL for what does not happen in so many cycles.
WITH ahead AS MATERIALIZED (
    SELECT
        c.number,
        b.* EXCLUDE (belief),
        $first_at::TIMESTAMPTZ + to_days(c.number::INTEGER) AS instant,
        (epoch(instant) - epoch(b.known_at)) / 86400 AS age,
        coalesce((epoch(instant) - epoch(b.asked_at)) / 86400 < b.rest_days, false) AS rests,
        CASE WHEN b.signalled THEN b.signal_lag ELSE 0e0 END AS lag,
        aged_evidence(b.evidence, b.generation, evidence_generation(instant)) AS aged
    FROM believed AS b
    CROSS JOIN (SELECT unnest(range($most::BIGINT)) AS number) AS c
),
told AS MATERIALIZED (SELECT *, log_belief(log_prior, aged) AS logs FROM ahead),
topped AS MATERIALIZED (SELECT *, most_believed(logs) AS most FROM told),
believed_then AS MATERIALIZED (SELECT *, belief(logs, most) AS belief FROM topped),
valued AS (
    SELECT
        *,
        rule_weight * page_weight
        * CASE $objective WHEN 'age' THEN age_index(belief, age, lag) ELSE freshness_index(belief, age, lag) END AS worth
    FROM believed_then
)
SELECT
    min(number) FILTER (NOT rests) AS due_in,
    min(number) FILTER (NOT rests AND priority_of(worth) >= $cutoff_priority) AS worth_in,
    min(number) FILTER (NOT rests AND age >= max_interval_days) AS overdue_in
FROM valued
