-- The state of every known URL: the newest checkpoint with the published log folded over it.
-- Reads: state_page (checkpoint and published log).
-- Grain: one row per URL.
CREATE VIEW page AS
SELECT * FROM state_page
