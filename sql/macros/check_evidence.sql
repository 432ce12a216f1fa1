-- What one check says of the eight change rates 2^-11, 2^-9 ... 2^3 a day; see check_evidence_at. Adds up over checks.
CREATE OR REPLACE MACRO check_evidence(changed, days, modified_days) AS {
    'k0': check_evidence_at(4.8828125e-4, changed, days, modified_days),
    'k1': check_evidence_at(1.953125e-3, changed, days, modified_days),
    'k2': check_evidence_at(7.8125e-3, changed, days, modified_days),
    'k3': check_evidence_at(3.125e-2, changed, days, modified_days),
    'k4': check_evidence_at(1.25e-1, changed, days, modified_days),
    'k5': check_evidence_at(5e-1, changed, days, modified_days),
    'k6': check_evidence_at(2e0, changed, days, modified_days),
    'k7': check_evidence_at(8e0, changed, days, modified_days)
};
