"""The stages of a cycle, one function `run` each. They never import each other and meet only through tables."""
