"""Kernels with barriers as C++ that g++ vectorises: split at barriers, loop over the threads."""

from evaluators.cpu.fission.translate import PREFIX, Translation, translate

__all__ = ["PREFIX", "Translation", "translate"]
