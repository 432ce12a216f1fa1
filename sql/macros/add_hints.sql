-- The counts of hints of two sets of checks.
CREATE OR REPLACE MACRO add_hints(a, b) AS {
    'modified': a.modified + b.modified,
    'modified_true': a.modified_true + b.modified_true,
    'signalled': a.signalled + b.signalled,
    'signalled_true': a.signalled_true + b.signalled_true,
    'rapid': a.rapid + b.rapid,
    'rapid_changed': a.rapid_changed + b.rapid_changed
};
