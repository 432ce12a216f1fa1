"""Freshness against the oracle: simulated webs, bounds with known rates, and the policies that are compared."""
