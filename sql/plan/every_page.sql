-- The pages that a plan looks at where no list holds: all.
-- Reads: state_page.
-- Grain: one row per URL, columns of page.
FROM state_page
