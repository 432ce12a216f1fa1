-- The evidence of two sets of checks of one generation.
CREATE OR REPLACE MACRO add_evidence(a, b) AS {
    'k0': a.k0 + b.k0,
    'k1': a.k1 + b.k1,
    'k2': a.k2 + b.k2,
    'k3': a.k3 + b.k3,
    'k4': a.k4 + b.k4,
    'k5': a.k5 + b.k5,
    'k6': a.k6 + b.k6,
    'k7': a.k7 + b.k7
};
