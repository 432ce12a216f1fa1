-- What the checks of a cycle make of the state: the columns of sql/state/fold_touched.sql that a plan reads.
-- Reads: evidence.
-- Writes: known, columns of page.
-- Params: now.
-- Grain: one row per URL with a check.
UPDATE known
SET
    asked_at = $now,
    fetched_at = $now,
    fetches = known.fetches + 1,
    checked_at = evidence.checked_at,
    is_live = evidence.is_live,
    checks = known.checks + evidence.checks,
    evidence = coalesce(evidence.evidence, known.evidence),
    evidence_generation = coalesce(evidence.generation, known.evidence_generation)
FROM evidence
WHERE evidence.url_key = known.url_key
