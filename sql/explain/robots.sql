-- The text of a version of robots.txt, as bytes.
-- Reads: robots_files.
-- Params: origin, scheme://host[:port]; version, the first twelve hexadecimal digits of the body's digest.
-- Grain: one row, or none.
SELECT body
FROM robots_files
WHERE origin = $origin AND body IS NOT NULL AND left(lower(hex(body_digest)), 12) = $version
ORDER BY epoch DESC, sequence DESC, fetched_at DESC
LIMIT 1
