"""What a response's bytes mean: text, links, directives, fingerprints. Pure functions; no I/O, no clock, no setting."""
