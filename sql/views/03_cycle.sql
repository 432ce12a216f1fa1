-- What each published cycle did.
-- Reads: publication, admitted, observation, url, rejected.
-- Grain: one row per cycle.
CREATE VIEW cycle AS
WITH published AS (
    SELECT cycle, max(published_at) AS published_at, count(*) FILTER (complete) AS buckets,
        count(*) FILTER (NOT complete) AS failed_buckets
    FROM publication
    GROUP BY cycle
),
planned AS (
    SELECT cycle, sum(admitted)::BIGINT AS planned FROM admitted GROUP BY cycle
),
observed AS (
    SELECT
        cycle,
        count(*) AS observed,
        count(*) FILTER (discovered IS NOT NULL) AS discovered,
        count(*) FILTER (sent) AS requested,
        count(*) FILTER (is_success(outcome)) AS fetched,
        count(*) FILTER (outcome = 'not_modified') AS not_modified,
        count(*) FILTER (outcome = 'not_modified' OR (outcome = 'ok' AND content_changed = false)) AS unchanged,
        count(*) FILTER (content_changed) AS changed,
        count(*) FILTER (outcome = 'ok' AND content_changed IS NULL) AS first_fetched,
        count(*) FILTER (late) AS late,
        min(fetched_at) AS first_request_at,
        max(ended_at) AS last_response_at,
        sum(wire_bytes)::BIGINT AS wire_bytes,
        sum(saved_bytes)::BIGINT AS saved_bytes
    FROM observation
    GROUP BY cycle
),
found AS (
    -- By merges; what a fetch found and fetched at once is counted as discovered.
    SELECT cycle, count(*) AS new_urls FROM url GROUP BY cycle
),
stopped AS (
    SELECT
        cycle,
        coalesce(sum(urls) FILTER (rule LIKE 'traps.%'), 0)::BIGINT AS traps,
        coalesce(sum(urls) FILTER (rule LIKE 'scope.%'), 0)::BIGINT AS out_of_scope
    FROM rejected
    GROUP BY cycle
)
SELECT
    published.cycle,
    coalesce(planned.planned, 0) AS planned,
    coalesce(observed.observed, 0) AS observed,
    coalesce(observed.discovered, 0) AS discovered,
    coalesce(observed.requested, 0) AS requested,
    coalesce(observed.fetched, 0) AS fetched,
    coalesce(observed.first_fetched, 0) AS first_fetched,
    coalesce(observed.changed, 0) AS changed,
    coalesce(observed.unchanged, 0) AS unchanged,
    coalesce(observed.not_modified, 0) AS not_modified,
    coalesce(observed.late, 0) AS late,
    coalesce(planned.planned, 0) - coalesce(observed.observed - observed.discovered, 0) AS open,
    coalesce(found.new_urls, 0) + coalesce(observed.discovered, 0) AS new_urls,
    coalesce(stopped.traps, 0) AS traps,
    coalesce(stopped.out_of_scope, 0) AS out_of_scope,
    coalesce(observed.wire_bytes, 0) AS wire_bytes,
    coalesce(observed.saved_bytes, 0) AS saved_bytes,
    observed.first_request_at,
    observed.last_response_at,
    published.published_at,
    published.buckets,
    published.failed_buckets
FROM published
LEFT JOIN planned USING (cycle)
LEFT JOIN observed USING (cycle)
LEFT JOIN found USING (cycle)
LEFT JOIN stopped USING (cycle)
ORDER BY published.cycle
