-- The state of every known URL: the newest checkpoint with the published log folded over it.
-- Reads: base_page, touched, folded.
-- Grain: one row per URL.
CREATE VIEW page AS
SELECT * FROM state_page
