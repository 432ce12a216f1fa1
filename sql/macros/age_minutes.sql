-- How old a copy is, in whole minutes up to a day and in whole hours beyond, so that ages of many pages are few numbers.
-- now and fetched_at are microseconds since 1970.
CREATE OR REPLACE MACRO age_minutes(now, fetched_at) AS
CASE WHEN now - fetched_at < 86400000000 THEN greatest(now - fetched_at, 0) // 60000000 ELSE (now - fetched_at) // 3600000000 * 60 END;
