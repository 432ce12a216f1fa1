-- The robots.txt rows that can still matter: of every origin the newest decision and the last good answer.
-- Reads: base_robots, tail_robots.
-- Grain: one or two rows per origin, columns of robots.
SELECT * FROM (SELECT * FROM base_robots UNION BY NAME SELECT * FROM tail_robots)
WHERE final
QUALIFY
    row_number() OVER (PARTITION BY origin ORDER BY epoch DESC, sequence DESC, fetched_at DESC) = 1
    OR (
        (verdict = 'allow' OR body IS NOT NULL)
        AND row_number() OVER (
            PARTITION BY origin, verdict = 'allow' OR body IS NOT NULL ORDER BY epoch DESC, sequence DESC, fetched_at DESC
        ) = 1
    )
