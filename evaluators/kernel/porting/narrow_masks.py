"""A mask of 32 bits where wavefronts have 64 lanes: one sentence, whichever compiler refuses it."""

import re

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.tokens import KERNEL_FILE

NARROW = (
    "the mask of a _sync operation has 32 bits, but wavefronts have 64 lanes here: write the "
    "operation without mask, as in __shfl_down(x, d, 32) or __ballot(p), or with a mask of 64 bits"
)
"""KS_NARROW in include/cpu/ks/exchange.h says the same."""

_SAID = re.compile(rf"{re.escape(NARROW)}|The mask must be a 64-bit integer")
"""By our headers, or AMD's."""
_LINE = re.compile(rf"{re.escape(KERNEL_FILE)}:(\d+)")


def narrow_mask(log: str) -> Rejected | None:
    """The verdict on a kernel whose compilation failed with that log, where that is why."""
    found = _SAID.search(log)
    if found is None:
        return None
    line = _LINE.search(log, log.rfind("\n", 0, found.start()) + 1)  # its own, or a note's
    place = int(line[1]) if line else None
    return Rejected(Status.COMPILE_ERROR, NARROW, log=log, line=place)
