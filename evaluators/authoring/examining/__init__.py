"""Is a task a good one: its seeds, tests, tolerance, inputs, sizes and references."""
