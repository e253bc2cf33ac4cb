"""A kernel's certificate: what was checked and measured, so that others can repeat it."""
