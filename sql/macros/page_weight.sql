-- How much a page counts beside what the operator says: slowly more for each page that links to it, a tenth if it is a copy.
CREATE OR REPLACE MACRO page_weight(inlinks, is_copy) AS log2(2e0 + inlinks) * CASE WHEN is_copy THEN 1e-1 ELSE 1e0 END;
