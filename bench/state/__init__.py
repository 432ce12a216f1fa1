"""`make bench-state`: what a cycle costs over a state of millions of URLs, beside a design that rewrites all of it."""
