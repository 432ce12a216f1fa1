"""How a cycle's cost follows its work: parts of the state at scale, each measured by itself."""
