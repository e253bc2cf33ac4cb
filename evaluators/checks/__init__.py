"""Is a kernel right? Inputs, guarded memory, comparisons, who judges."""
