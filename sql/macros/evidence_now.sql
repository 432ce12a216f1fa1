-- What is left of evidence, as decayed_evidence says, in whole numbers that are DOUBLE, which a plan of many URLs computes
-- with twice as fast; share is evidence_weight / 1024. Without evidence every rate is told nothing of.
CREATE OR REPLACE MACRO evidence_now(evidence, share) AS {
    'k0': coalesce(floor(evidence.k0 * share), 0e0),
    'k1': coalesce(floor(evidence.k1 * share), 0e0),
    'k2': coalesce(floor(evidence.k2 * share), 0e0),
    'k3': coalesce(floor(evidence.k3 * share), 0e0),
    'k4': coalesce(floor(evidence.k4 * share), 0e0),
    'k5': coalesce(floor(evidence.k5 * share), 0e0),
    'k6': coalesce(floor(evidence.k6 * share), 0e0),
    'k7': coalesce(floor(evidence.k7 * share), 0e0)
};
