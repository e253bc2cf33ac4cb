"""Islands: populations that evolve beside each other."""
