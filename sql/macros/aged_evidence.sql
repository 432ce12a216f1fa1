-- Evidence of one generation as it counts in a later one.
CREATE OR REPLACE MACRO aged_evidence(evidence, generation, later) AS
decayed_evidence(evidence, evidence_weight(later - generation));
