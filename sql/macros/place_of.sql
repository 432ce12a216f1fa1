-- What the limits on URLs that are alike count together: a pattern, or a path with all its combinations of parameters.
CREATE OR REPLACE MACRO place_of(pattern_key) AS
    CASE WHEN (pattern_key >> 16) & 15 > 1 THEN pattern_key | 1048575 ELSE pattern_key END;
