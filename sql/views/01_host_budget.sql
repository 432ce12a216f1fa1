-- How many URLs of a host a plan made at the newest publication would take at most, and what makes it that many. It is
-- the rule of crawler/store/candidates.py, but for hosts that bring nothing new: `recrawl explain` knows those.
-- Reads: newest_host, general_rule, host_rule, held.
-- Grain: one row per host that was asked, has settings or is held. because: hold, blackout, busy, delay or max_urls.
CREATE VIEW host_budget AS
WITH paced AS (
    SELECT
        coalesce(h.host, own.host, held.host) AS host,
        held.host IS NOT NULL AS is_held,
        coalesce(own.max_urls, g.max_urls) AS max_urls,
        coalesce(own.open_share, 1) AS open_share,
        CASE
            WHEN own.host IS NOT NULL THEN greatest(coalesce(own.floor_seconds, g.floor_seconds), coalesce(h.delay_seconds, 0))
            ELSE coalesce(h.delay_seconds, g.floor_seconds)
        END AS pace_seconds,
        g.window_seconds,
        coalesce(date_diff('day', h.busy_at::DATE, g.seen_at::DATE) <= 1, false) AS is_busy
    FROM newest_host AS h
    FULL JOIN host_rule AS own ON own.host = h.host
    FULL JOIN held ON held.host = coalesce(h.host, own.host)
    CROSS JOIN general_rule AS g
),
timed AS (
    SELECT
        *,
        CASE WHEN pace_seconds > 0
            THEN least(max_urls, greatest(1, floor(open_share * window_seconds / pace_seconds)))::BIGINT
            ELSE max_urls
        END AS in_time
    FROM paced
)
SELECT
    host,
    CASE
        WHEN is_held OR open_share = 0 THEN 0
        WHEN is_busy AND in_time > 0 THEN greatest(in_time // 2, 1)
        ELSE in_time
    END AS urls,
    CASE
        WHEN is_held THEN 'hold'
        WHEN open_share = 0 THEN 'blackout'
        WHEN is_busy AND in_time > 0 THEN 'busy'
        WHEN in_time < max_urls THEN 'delay'
        ELSE 'max_urls'
    END AS because
FROM timed
