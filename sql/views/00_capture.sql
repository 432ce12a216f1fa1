-- The stored bodies, one per distinct content.
-- Reads: capture_log.
-- Grain: one row per body_digest.
CREATE VIEW capture AS
SELECT * FROM capture_log
QUALIFY row_number() OVER (PARTITION BY body_digest ORDER BY fetched_at, bucket, epoch, sequence, url_key) = 1
