-- The belief in the eight rates, 1 for the most believed one; most is most_believed(log_belief), found once a row.
CREATE OR REPLACE MACRO belief(log_belief, most) AS {
    'k0': exp(log_belief.k0 - most),
    'k1': exp(log_belief.k1 - most),
    'k2': exp(log_belief.k2 - most),
    'k3': exp(log_belief.k3 - most),
    'k4': exp(log_belief.k4 - most),
    'k5': exp(log_belief.k5 - most),
    'k6': exp(log_belief.k6 - most),
    'k7': exp(log_belief.k7 - most)
};
