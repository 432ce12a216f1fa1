-- Evidence at the weight of evidence_weight, in integers, rounded down: the same on every machine and in any order.
CREATE OR REPLACE MACRO decayed_evidence(evidence, weight) AS {
    'k0': ((evidence.k0::BIGINT * weight) >> 10)::INTEGER,
    'k1': ((evidence.k1::BIGINT * weight) >> 10)::INTEGER,
    'k2': ((evidence.k2::BIGINT * weight) >> 10)::INTEGER,
    'k3': ((evidence.k3::BIGINT * weight) >> 10)::INTEGER,
    'k4': ((evidence.k4::BIGINT * weight) >> 10)::INTEGER,
    'k5': ((evidence.k5::BIGINT * weight) >> 10)::INTEGER,
    'k6': ((evidence.k6::BIGINT * weight) >> 10)::INTEGER,
    'k7': ((evidence.k7::BIGINT * weight) >> 10)::INTEGER
};
