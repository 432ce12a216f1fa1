"""Benchmarks: one command each; they print ratios to a peer of the same run and write JSON."""
