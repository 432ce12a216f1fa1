-- Who was first with each digest, and the last cycle in which its body was given a holder, if ever: the rows of a run.
-- Reads: copy_files (the rows that no run holds), taken_copy (rows of the runs that it takes in).
-- Grain: one row per kind and digest.
SELECT kind, digest, min(first_url) AS first_url, max(held_on) AS held_on
FROM (
    SELECT kind, digest, first_url, CASE WHEN is_holder THEN cycle END AS held_on FROM copy_files
    UNION ALL
    SELECT kind::VARCHAR, digest::BLOB, first_url, held_on FROM taken_copy
)
GROUP BY kind, digest
ORDER BY digest, kind
