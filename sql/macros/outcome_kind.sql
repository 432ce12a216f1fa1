-- How an outcome counts in a row of them: only those of a kind add up. The table is crawler/core/outcomes.py.
CREATE OR REPLACE MACRO outcome_kind(outcome) AS CASE
    WHEN outcome IN ('ok', 'not_modified', 'redirected') THEN 'success'
    WHEN outcome IN ('gone', 'refused', 'client_error', 'unwanted_type') THEN 'absent'
    WHEN outcome IN ('denied_by_robots', 'robots_unreachable', 'blocked_address', 'trap') THEN 'denied'
    WHEN outcome IS NOT NULL THEN 'error'
END;
