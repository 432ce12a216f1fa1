-- One number that orders rows of a partition by (epoch, sequence).
CREATE OR REPLACE MACRO log_position(epoch, sequence) AS (epoch::UBIGINT << 32) | sequence::UBIGINT;
