"""Which kernels the order of threads could change: those that wait for each other."""

import re

from evaluators.cpu.fission.names import COLLECTIVES

_WAITS = re.compile(rf"\b(?:{'|'.join(sorted(COLLECTIVES))})\b")


def waits(code: str) -> bool:
    """Whether a kernel's text names a barrier or a wavefront operation."""
    return _WAITS.search(code) is not None
