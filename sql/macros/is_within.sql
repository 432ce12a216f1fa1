-- Whether a row comes no later than a cut-off: larger priorities first, of equal ones smaller keys.
CREATE OR REPLACE MACRO is_within(priority, url_key, cutoff_priority, cutoff_url_key) AS (
    priority > cutoff_priority OR (priority = cutoff_priority AND url_key <= cutoff_url_key)
);
