-- What one check says of one change rate (changes a day), in 1/1024 nat: the rounded log-likelihood of what was found.
-- days: since the check before. modified_days: the age of the change at the check if a trusted Last-Modified tells it.
-- Five checks of 1,000 find a change that is none, so that one check never rules out a rate.
CREATE OR REPLACE MACRO check_evidence_at(rate, changed, days, modified_days) AS round(1024 * CASE
    WHEN NOT changed THEN -rate * greatest(days, 1e0 / 1440)
    WHEN modified_days IS NULL THEN ln(1 - 9.95e-1 * exp(-rate * greatest(days, 1e0 / 1440)))
    ELSE ln(rate) - rate * greatest(least(modified_days, days), 0e0)
END)::INTEGER;
