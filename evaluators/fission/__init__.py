"""Kernels with barriers as C++ that g++ vectorises: split at barriers, loop over the threads."""

from evaluators.fission.translate import PREFIX, Region, explain, translate

__all__ = ["PREFIX", "Region", "explain", "translate"]
