-- What the checks in the tail of the log make of a URL's evidence, and what they add to the counts of its hints.
-- Evidence of a generation is added up; from one generation to the next it decays, so that a checkpoint anywhere in
-- between leaves the same.
-- Reads: checked, touched_page.
-- Grain: one row per URL with a check.
WITH said AS (
    SELECT url_key, generation, check_evidence(changed, days, modified_days) AS evidence
    FROM checked
    WHERE changed IS NOT NULL
),
summed AS (
    SELECT url_key, generation, 1 AS turn, sum_evidence(evidence) AS evidence FROM said GROUP BY url_key, generation
    UNION ALL
    SELECT url_key, evidence_generation, 0, evidence FROM touched_page
    WHERE evidence IS NOT NULL AND url_key IN (SELECT url_key FROM said)
),
folded_evidence AS (
    SELECT
        url_key,
        list_reduce(
            list({'generation': generation, 'evidence': evidence_list(evidence)} ORDER BY generation, turn),
            lambda past, next: {
                'generation': next.generation,
                'evidence': list_transform(
                    past.evidence,
                    lambda part, k: ((part::BIGINT * evidence_weight(next.generation - past.generation)) >> 10)::INTEGER
                    + next.evidence[k]
                )
            }
        ) AS folded
    FROM summed
    GROUP BY url_key
),
counted AS (
    SELECT
        url_key,
        arg_max({'found': found}, position) AS last,
        count(changed) AS checks,
        {
            'modified': count(*) FILTER (modified_before IS NOT NULL AND content_changed IS NOT NULL),
            'modified_true': count(*) FILTER (modified_before = NOT content_changed),
            'signalled': count(*) FILTER (signalled AND changed IS NOT NULL),
            'signalled_true': count(*) FILTER (signalled AND changed),
            'rapid': count(*) FILTER (days <= 1e0 / 24 AND content_changed IS NOT NULL),
            'rapid_changed': count(*) FILTER (days <= 1e0 / 24 AND content_changed)
        } AS hints
    FROM checked
    GROUP BY url_key
)
SELECT
    counted.url_key,
    counted.last.found.at AS checked_at,
    counted.last.found.live AS is_live,
    counted.checks,
    counted.hints,
    evidence_of_list(folded_evidence.folded.evidence) AS evidence,
    folded_evidence.folded.generation AS generation
FROM counted
LEFT JOIN folded_evidence USING (url_key)
