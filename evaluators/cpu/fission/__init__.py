"""Kernels with barriers as C++ that g++ vectorises: split at barriers, loop over the threads."""

from evaluators.cpu.fission.translate import PREFIX, Region, explain, translate

__all__ = ["PREFIX", "Region", "explain", "translate"]
