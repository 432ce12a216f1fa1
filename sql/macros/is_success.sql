-- Whether an outcome means that we know the page at that instant; the table is crawler/core/outcomes.py.
CREATE OR REPLACE MACRO is_success(outcome) AS outcome IN ('ok', 'not_modified', 'redirected');
