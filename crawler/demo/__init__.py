"""A web to show and test the product on: many hosts on loopback whose every change is known.

Imported by the command line and by tests, never by the product's other parts.
"""
