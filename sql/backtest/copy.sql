-- The copies after a cycle of a policy: those that it fetched are new, and it has learnt whether they had changed.
-- Nutch's rule (AdaptiveFetchSchedule, settings of nutch-default.xml): a changed page comes a fifth sooner, an unchanged
-- one two fifths later, at least so late as it has been unchanged; and sooner by three tenths of that.
-- Reads: replayed_copy, replayed_chosen, replayed_period.
-- Params: at.
-- Grain: one row per URL.
WITH fetched AS MATERIALIZED (
    SELECT
        c.*,
        chosen.changed,
        $at::TIMESTAMPTZ AS fetched_at,
        aged_evidence(c.evidence, c.generation, evidence_generation($at::TIMESTAMPTZ)) AS kept,
        check_evidence(chosen.changed, (epoch($at::TIMESTAMPTZ) - epoch(c.copied_at)) / 86400, NULL::DOUBLE) AS found,
        CASE WHEN chosen.changed THEN $at::TIMESTAMPTZ ELSE c.modified_at END AS seen_at,
        (epoch($at::TIMESTAMPTZ) - epoch(seen_at)) / 86400 AS unchanged_days,
        c.interval_days * CASE WHEN chosen.changed THEN 8e-1 ELSE 1.4e0 END AS tried_days,
        least(greatest(tried_days, unchanged_days, 1e0 / 1440), 365e0) AS next_days
    FROM replayed_copy AS c
    JOIN replayed_chosen AS chosen USING (url_key)
)
SELECT * FROM replayed_copy WHERE url_key NOT IN (SELECT url_key FROM replayed_chosen)
UNION ALL BY NAME
SELECT
    f.url_key,
    f.host,
    f.first_at,
    f.last_at,
    f.fetched_at AS copied_at,
    change.changed_at AS stale_at,
    add_evidence(f.kept, f.found) AS evidence,
    evidence_generation(f.fetched_at) AS generation,
    f.next_days AS interval_days,
    f.seen_at AS modified_at,
    f.fetched_at + to_microseconds((86400e6 * (f.next_days - 3e-1 * f.unchanged_days))::BIGINT) AS due_at
FROM fetched AS f
ASOF LEFT JOIN (SELECT url_key, changed_at FROM replayed_period WHERE changed_at IS NOT NULL) AS change
    ON change.url_key = f.url_key AND change.changed_at > f.fetched_at
