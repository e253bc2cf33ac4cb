"""The cpu backend: kernels as loops over threads, in confined children."""
