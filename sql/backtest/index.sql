-- What each page is worth by this product's own rule; see docs/recrawl-policy.md.
-- Reads: replayed_known.
-- Params: objective, freshness or age.
-- Grain: one row per URL.
SELECT
    url_key,
    CASE $objective WHEN 'age' THEN age_index(belief, days, 0) ELSE freshness_index(belief, days, 0) END AS value
FROM replayed_known
