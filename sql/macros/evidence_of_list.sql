-- The list of evidence_list as evidence again; NULL for NULL.
CREATE OR REPLACE MACRO evidence_of_list(rates) AS CASE WHEN rates IS NOT NULL THEN {
    'k0': rates[1], 'k1': rates[2], 'k2': rates[3], 'k3': rates[4],
    'k4': rates[5], 'k5': rates[6], 'k6': rates[7], 'k7': rates[8]
} END;
