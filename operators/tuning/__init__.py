"""Tuning: which points of kernels' own spaces to measure when nobody asks for anything else."""
