"""What our headers, or AMD's, refuse by a static assertion: its sentence, at the kernel's line.

Compilers tell such an error at the header's line, and of the kernel's line in a message round it.
"""

import re

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.tokens import KERNEL_FILE

NARROW = (
    "the mask of a _sync operation has 32 bits, but wavefronts have 64 lanes here: write the "
    "operation without mask, as in __shfl_down(x, d, 32) or __ballot(p), or with a mask of 64 bits"
)
"""KS_NARROW in include/cpu/ks/exchange.h says the same."""
_AMD_NARROW = "The mask must be a 64-bit integer"

_ERROR = re.compile(
    r"^(?P<file>[^\s:(]+)\S* error: static assertion failed"
    r"(?: due to requirement '.*?')?(?:: | with \")(?P<said>.*?)\"?$",
    re.MULTILINE,
)
"""The first pattern of a line by g++, clang and NVRTC."""
_FILE = re.escape(KERNEL_FILE)
_AHEAD = re.compile(rf"^{_FILE}:(\d+):\d+:   required from here$", re.MULTILINE)
_BEHIND = re.compile(rf"{_FILE}:(\d+):\d+: note: |at line (\d+) of {_FILE}")


def asserted(log: str) -> Rejected | None:
    """The verdict on a kernel whose compilation failed with that log, where that is why."""
    found = _ERROR.search(log)
    if found is None:
        return None
    narrow = found["said"].startswith((NARROW, _AMD_NARROW))
    if found["file"] == KERNEL_FILE and not narrow:
        return None  # an assertion of the kernel's own
    said = NARROW if narrow else found["said"]
    return Rejected(Status.COMPILE_ERROR, said, log=log, line=_line(log, found))


def _line(log: str, found: re.Match[str]) -> int | None:
    if own := re.match(rf"{_FILE}:(\d+)", found[0]):
        return int(own[1])
    ahead = [*_AHEAD.finditer(log, 0, found.start())]
    if ahead:
        return int(ahead[-1][1])
    behind = _BEHIND.search(log, found.end())
    return int(behind[1] or behind[2]) if behind else None
