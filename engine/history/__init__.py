"""A stored campaign as people look back on it: how its best came about, and how it ended."""
