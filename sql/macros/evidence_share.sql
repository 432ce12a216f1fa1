-- evidence_weight of evidence of a generation at an instant as a share of 1; exact, since 1024 is a power of two.
CREATE OR REPLACE MACRO evidence_share(instant, generation) AS
evidence_weight(evidence_generation(instant) - generation) * 9.765625e-4;
