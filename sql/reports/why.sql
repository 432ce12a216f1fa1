-- Why was a URL fetched, or not? Its story: found, planned, asked, and how it stands.
-- Reads: link, url, plan, admitted, observation, page.
-- Params: url, the canonical URL.
-- Grain: one row per event, in the order of time.
WITH events AS (
    SELECT
        min(found_at) AS happened_at, cycle, 1 AS rank, 'link' AS event,
        'links in pages: ' || count(DISTINCT source_url) || ', such as ' || min(source_url) || coalesce('; stopped by ' || min(trap), '')
        || CASE WHEN bool_and(nofollow) THEN '; all of them nofollow' ELSE '' END AS detail
    FROM link
    WHERE target_url = $url
    GROUP BY cycle
    UNION ALL
    SELECT discovered_at, cycle, 2, 'known', 'as ' || kind || coalesce(' in ' || source_url, '') || ', depth ' || depth
    FROM url
    WHERE url = $url
    UNION ALL
    SELECT discovered.discovered_at, cycle, 3, 'found', 'and fetched in the same cycle, out of the budget that its plans left'
    FROM observation
    WHERE url = $url AND discovered IS NOT NULL
    UNION ALL
    SELECT
        p.cycle::TIMESTAMP::TIMESTAMPTZ, p.cycle, 3, 'planned',
        'priority ' || p.priority || ', rank ' || p.host_rank || ' in its host; '
        || CASE
            WHEN p.priority > a.cutoff_priority THEN 'admitted'
            WHEN p.priority = a.cutoff_priority AND p.url_key <= a.cutoff_url_key THEN 'admitted'
            ELSE 'not admitted: the budget ended at priority ' || a.cutoff_priority
        END
    FROM plan AS p
    JOIN admitted AS a USING (cycle, bucket)
    WHERE p.url = $url
    UNION ALL
    SELECT
        fetched_at, cycle, 4, 'asked',
        outcome || coalesce(' (' || status || ')', '') || CASE WHEN late THEN ', late' ELSE '' END
        || coalesce(', ' || error, '')
        || CASE WHEN content_changed THEN ', new content' WHEN NOT content_changed THEN ', unchanged' ELSE '' END
    FROM observation
    WHERE url = $url
    UNION ALL
    SELECT
        asked_at, last_cycle, 5, 'now',
        coalesce('last ' || outcome, 'never asked') || ', ' || fetches || ' fetches, ' || changes || ' changes'
        || coalesce(', copy of ' || duplicate_of, '') || CASE WHEN streak > 0 THEN ', ' || streak || ' failures' ELSE '' END
    FROM page
    WHERE url = $url
)
SELECT happened_at, cycle, event, detail
FROM events
ORDER BY event = 'now', cycle NULLS LAST, rank, happened_at, detail
