"""Words and values that every other package may use; no I/O on the network or the lake."""
