-- Every check in the tail of the log, beside the one before: how long it had been, and whether the page had changed.
-- A first look, an error, a denial and a redirect are no evidence; nor is what follows a redirect. A page that has gone
-- or come back has changed. Only a trusted Last-Modified between the two checks dates a change.
-- Reads: tail_observation, touched_page.
-- Grain: one row per check. changed is NULL for what is no evidence. generation never falls along a URL's checks.
WITH looked AS (
    SELECT
        o.url_key,
        log_position(o.epoch, o.sequence) AS position,
        o.fetched_at,
        CASE WHEN o.outcome <> 'redirected' THEN {'at': o.fetched_at, 'live': o.outcome <> 'gone'} END AS found,
        base.evidence_generation AS base_generation,
        CASE WHEN row_number() OVER url = 1
            THEN CASE WHEN base.checked_at IS NOT NULL THEN {'at': base.checked_at, 'live': base.is_live} END
            ELSE lag(found) OVER url
        END AS before,
        coalesce(o.counts_as_changed, o.content_changed) AS differs,
        o.content_changed,
        o.modified_at,
        o.modified_trusted,
        o.signalled
    FROM tail_observation AS o
    LEFT JOIN touched_page AS base USING (url_key)
    WHERE is_check(o.outcome)
    WINDOW url AS (PARTITION BY o.url_key ORDER BY o.epoch, o.sequence)
),
compared AS (
    SELECT
        *,
        before.live AND found.live AS both_live,
        CASE WHEN both_live THEN differs WHEN before.live OR found.live THEN true END AS changed,
        (epoch(fetched_at) - epoch(before.at)) / 86400 AS days
    FROM looked
)
SELECT
    url_key,
    position,
    fetched_at,
    found,
    CASE WHEN before IS NOT NULL AND found IS NOT NULL THEN changed END AS changed,
    days,
    CASE WHEN modified_trusted AND both_live AND modified_at BETWEEN before.at AND fetched_at
        THEN (epoch(fetched_at) - epoch(modified_at)) / 86400
    END AS modified_days,
    greatest(base_generation, max(evidence_generation(fetched_at)) OVER url) AS generation,
    CASE WHEN both_live THEN content_changed END AS content_changed,
    modified_at <= before.at AS modified_before,
    signalled
FROM compared
WINDOW url AS (PARTITION BY url_key ORDER BY position ROWS UNBOUNDED PRECEDING)
