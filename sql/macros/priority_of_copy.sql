-- The priority of a page at a tenth of its weight: 4096 log2(10) less, rounded down.
CREATE OR REPLACE MACRO priority_of_copy(priority) AS priority - 13607;
