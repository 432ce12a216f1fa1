"""The lake: the only package that imports duckdb or pyarrow, and the only one that touches the lake's files."""
