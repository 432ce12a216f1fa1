-- The evidence of a URL that was never checked.
CREATE OR REPLACE MACRO no_evidence() AS {
    'k0': 0, 'k1': 0, 'k2': 0, 'k3': 0, 'k4': 0, 'k5': 0, 'k6': 0, 'k7': 0
};
