-- Whether an outcome tells what is at a URL: a page, nothing, or a pointer elsewhere.
CREATE OR REPLACE MACRO is_check(outcome) AS outcome IN ('ok', 'not_modified', 'gone', 'redirected');
