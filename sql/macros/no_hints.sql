-- What was counted of a URL's hints before its first check.
CREATE OR REPLACE MACRO no_hints() AS {
    'modified': 0, 'modified_true': 0, 'signalled': 0, 'signalled_true': 0, 'rapid': 0, 'rapid_changed': 0
};
