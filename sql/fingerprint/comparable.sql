-- The SimHashes that those of arrived pages are compared with; of equal ones that arrived together one is enough.
-- Reads: near_known, arrived_here.
-- Grain: about one row per SimHash.
SELECT simhash FROM near_known
UNION ALL
SELECT DISTINCT simhash FROM arrived_here
