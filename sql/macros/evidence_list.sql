-- Evidence as a list, for a loop over the rates.
CREATE OR REPLACE MACRO evidence_list(evidence) AS [
    evidence.k0, evidence.k1, evidence.k2, evidence.k3, evidence.k4, evidence.k5, evidence.k6, evidence.k7
];
