-- The evidence of all checks of a group, of one generation.
CREATE OR REPLACE MACRO sum_evidence(evidence) AS {
    'k0': sum(evidence.k0)::INTEGER,
    'k1': sum(evidence.k1)::INTEGER,
    'k2': sum(evidence.k2)::INTEGER,
    'k3': sum(evidence.k3)::INTEGER,
    'k4': sum(evidence.k4)::INTEGER,
    'k5': sum(evidence.k5)::INTEGER,
    'k6': sum(evidence.k6)::INTEGER,
    'k7': sum(evidence.k7)::INTEGER
};
