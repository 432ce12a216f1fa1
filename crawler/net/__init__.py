"""The web: names, connections, robots.txt and politeness. Knows no table."""
