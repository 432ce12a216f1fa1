-- The log of the belief in the eight rates, but for a constant: prior and evidence together.
CREATE OR REPLACE MACRO log_belief(log_prior, evidence) AS {
    'k0': log_prior.k0 + evidence.k0 * 9.765625e-4,
    'k1': log_prior.k1 + evidence.k1 * 9.765625e-4,
    'k2': log_prior.k2 + evidence.k2 * 9.765625e-4,
    'k3': log_prior.k3 + evidence.k3 * 9.765625e-4,
    'k4': log_prior.k4 + evidence.k4 * 9.765625e-4,
    'k5': log_prior.k5 + evidence.k5 * 9.765625e-4,
    'k6': log_prior.k6 + evidence.k6 * 9.765625e-4,
    'k7': log_prior.k7 + evidence.k7 * 9.765625e-4
};
