-- The bits of a SimHash to look it up by. Cut into k + 2 blocks, two values that differ in at most k bits are equal in at
-- least two blocks, whichever the bits are; so each pair of blocks is a key, and some key of near values is equal.
CREATE OR REPLACE MACRO simhash_block(k) AS TABLE
WITH part AS (
    SELECT
        number,
        64 * number // (k + 2) AS low,
        64 * (number + 1) // (k + 2) AS high,
        ((1::UBIGINT << (high - low)::UBIGINT) - 1) << low::UBIGINT AS bits
    FROM range(k + 2) AS part(number)
)
SELECT (row_number() OVER (ORDER BY one.number, other.number))::UTINYINT AS number, (one.bits | other.bits)::UBIGINT AS mask
FROM part AS one
JOIN part AS other ON one.number < other.number;
