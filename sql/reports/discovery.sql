-- What do fetches find and fetch at once, and how much of that does the seen filter decide?
-- Reads: discovery, observation.
-- Grain: one row per cycle. percent_unseen: of the distinct URLs that were looked up those that the filter alone called new;
-- percent_wrong: of the new ones those that it took for known.
WITH told AS (
    SELECT
        cycle,
        sum(links)::BIGINT AS links,
        sum(unseen + maybe_seen)::BIGINT AS looked_up,
        sum(unseen)::BIGINT AS unseen,
        sum(wrongly_seen)::BIGINT AS wrongly_seen,
        sum(rejected)::BIGINT AS rejected,
        sum(left_over)::BIGINT AS left_over,
        sum(taken)::BIGINT AS taken,
        max(filter_bytes) AS largest_filter_bytes
    FROM discovery
    GROUP BY cycle
),
fetched AS (
    SELECT cycle, count(*) AS fetched FROM observation WHERE discovered IS NOT NULL GROUP BY cycle
)
SELECT
    told.cycle,
    told.links,
    told.looked_up,
    round(100 * told.unseen / nullif(told.looked_up, 0), 2) AS percent_unseen,
    round(100 * told.wrongly_seen / nullif(told.unseen + told.wrongly_seen, 0), 3) AS percent_wrong,
    told.rejected,
    told.left_over,
    told.taken,
    coalesce(fetched.fetched, 0) AS fetched,
    told.largest_filter_bytes
FROM told
LEFT JOIN fetched USING (cycle)
ORDER BY told.cycle
