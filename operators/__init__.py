"""What to try next: selection, design and writing of kernels, with or without a model."""
