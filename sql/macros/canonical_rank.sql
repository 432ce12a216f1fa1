-- How fit a page is to stand for its copies by what pages say: 0 it or another that came with it (then named_url) names it
-- as canonical, 1 none does, 2 it names another URL.
CREATE OR REPLACE MACRO canonical_rank(url, canonical_url, named_url) AS
CASE WHEN canonical_url = url OR named_url = url THEN 0 WHEN canonical_url IS NULL THEN 1 ELSE 2 END;
