-- The largest of the eight, which is taken out before exp so that nothing overflows.
CREATE OR REPLACE MACRO most_believed(log_belief) AS greatest(
    log_belief.k0, log_belief.k1, log_belief.k2, log_belief.k3, log_belief.k4, log_belief.k5, log_belief.k6, log_belief.k7
);
