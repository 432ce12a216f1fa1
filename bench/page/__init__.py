"""Understanding pages: CPU by step, URLs a second, and which features tell an edited page from another one.

`make bench-page`; see bench/README.md.
"""
