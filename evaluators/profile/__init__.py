"""Vendors' profilers, and what their tables advise."""
