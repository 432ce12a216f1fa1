-- The SimHashes that those of arrived pages are compared with: of the pages of the bucket, and of those that have arrived.
-- Nothing that near_known has is missing; what it has no more, because the tail of the log touched it, may be among them.
-- Reads: base_page, near_touched, arrived_here.
-- Grain: one row per page of the checkpoint, about one per SimHash of the others.
SELECT simhash FROM base_page WHERE simhash IS NOT NULL AND near_of IS NULL AND outcome <> 'gone'
UNION ALL
SELECT simhash FROM near_touched WHERE simhash IS NOT NULL AND near_of IS NULL AND outcome <> 'gone'
UNION ALL
SELECT DISTINCT simhash FROM arrived_here
