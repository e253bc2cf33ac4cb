"""Is this kernel right, and how fast: compile, check and time one candidate."""
