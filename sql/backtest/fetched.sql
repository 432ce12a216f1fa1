-- How many pages a policy fetched in a cycle, and how many of them had changed.
-- Reads: replayed_chosen.
-- Grain: one row.
SELECT count(*) AS fetches, count(*) FILTER (changed) AS changed FROM replayed_chosen
