"""The instructions of a code object as text, from AMD's own disassembler (libamd_comgr)."""

import functools
import hashlib
import threading
from collections import OrderedDict

from evaluators.device_info import BackendMissing
from evaluators.hip.emulator.program import Line
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.hip.rocm import WHAT_TO_DO

_KEPT = 64
_DEADLINE_S = 120.0
_lock = threading.Lock()
_known: OrderedDict[bytes, list[Line]] = OrderedDict()


def disassemble(code: bytes) -> list[Line]:
    """Everything in .text, in order. Raises BackendMissing (no disassembler) and Rejected."""
    key = hashlib.sha256(code).digest()
    with _lock:
        if key not in _known:
            _known[key] = _child().disassemble(code, _DEADLINE_S)
            while len(_known) > _KEPT:
                _known.popitem(last=False)
        _known.move_to_end(key)
        return _known[key]


@functools.cache
def _child() -> HiprtcChild:
    child = HiprtcChild()
    require_disassembler(child)
    return child


def require_disassembler(child: HiprtcChild) -> None:
    """Raises BackendMissing."""
    if child.toolchain.comgr is None:
        raise BackendMissing(
            "the emulator reads machine code with libamd_comgr, which is not beside "
            f"{child.toolchain.hiprtc.name}: {WHAT_TO_DO}"
        )
