"""Kernels with barriers as C++ that g++ vectorises: split at barriers, loop over the threads."""

from evaluators.fission.translate import Region, explain, translate

__all__ = ["Region", "explain", "translate"]
