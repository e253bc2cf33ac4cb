"""What a launch ran into, as a verdict and a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.evaluation import Rejected, Status
from evaluators.hip.emulator.machine import FAULTS, FaultInfo
from evaluators.hip.emulator.program import Program

NEAR_BYTES = 64 << 10
"""An access no farther from a buffer is taken for an overshoot: WRONG, not CRASHED."""
SEVERAL = 0xFFFF
"""FaultInfo.other_wave where it is not one (native/lds_order.hpp)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Memory that a launch may access. name: "" where nobody named it."""

    start: int
    nbytes: int
    name: str = ""
    writable: bool = True

    @property
    def shown(self) -> str:
        return f"{self.name} ({self.nbytes:,} bytes)" if self.name else f"{self.nbytes:,} bytes"


def rejection(info: FaultInfo, program: Program, areas: Sequence[Area], order: str) -> Rejected:
    """order: how to have wavefronts take turns as they did, for the end of the sentence."""
    kind = FAULTS[info.fault]
    text = program.texts[info.instruction] if info.instruction < len(program.texts) else ""
    if kind == "unsupported":
        return Rejected(Status.UNSUPPORTED, _unsupported(text, info.what.decode()))
    status, said = _said(kind, info, areas)
    block = ", ".join(str(index) for index in info.block)
    lane = "" if kind in _WHOLE_WAVE else f"lane {info.lane} of "
    where = f"in {lane}wavefront {info.wave} of block ({block}), by `{text}`{order}"
    return Rejected(
        status,
        f"{said}, {where}",
        trespass=status is Status.CRASHED,
        race=kind == "race",
    )


_WHOLE_WAVE = (
    *("undefined_branch", "undefined_exec", "trap", "bad_jump"),
    *("register_range", "undefined_scalar", "unwaited"),
)


def _unsupported(text: str, what: str) -> str:
    name = text.split(maxsplit=1)[0] if text else "?"
    if what:
        return f"the emulator does not know {what}: `{text}`"
    return f"the emulator does not know the instruction {name}: `{text}`"


def _said(kind: str, info: FaultInfo, areas: Sequence[Area]) -> tuple[Status, str]:
    does = f"the kernel {'writes' if info.writes else 'reads'} {info.bytes} bytes"
    if kind == "outside":
        return _outside(info, areas, does)
    if kind == "read_only":
        found = next((a for a in areas if a.start <= info.address < a.start + a.nbytes), None)
        return Status.WRONG, f"{does} of {found.shown if found else 'memory'}, which is read-only"
    plain = {
        "outside_lds": f"{does} at {info.address} of LDS, beyond what its block has",
        "outside_scratch": f"{does} at {info.address} of scratch, beyond what a lane has",
        "unwritten_lds": (
            f"the kernel reads {info.bytes} bytes at {info.address} of LDS that no thread wrote"
        ),
        "undefined_address": "the kernel uses a register that was never written as an address",
        "undefined_store": "the kernel stores a register that was never written",
        "undefined_branch": "the kernel branches on a register that was never written",
        "undefined_exec": "which lanes are active depends on a register that was never written",
        "undefined_scalar": "the kernel uses a register that was never written as an index",
        "unwaited": (
            f"the kernel uses {info.what.decode()}{info.address} before its load is through: "
            "an s_waitcnt is missing"
        ),
        "unfinished_lds": _unfinished(info),
        "race": f"{does} at {info.address} of LDS that {_others(info)}",
    }
    if kind in plain:
        return Status.WRONG, plain[kind]
    broken = {
        "trap": f"the kernel trapped (s_trap {info.address}): an assertion or abort()",
        "bad_jump": f"the kernel jumps to {info.address:#x}, where it has no code",
        "misaligned": f"an atomic operation of {info.bytes} bytes is not aligned to its size",
        "register_range": f"the kernel indexes register {info.address}, which it does not have",
    }
    return Status.CRASHED, broken[kind]


def _unfinished(info: FaultInfo) -> str:
    what, count = ("load", "vmcnt") if info.writes else ("store", "lgkmcnt")
    return (
        f"the kernel reads {info.bytes} bytes at {info.address} of LDS before wavefront "
        f"{info.other_wave}'s {what} to them is through: s_waitcnt {count}(0) is missing behind it"
    )


def _others(info: FaultInfo) -> str:
    does = info.what.decode()
    if info.other_wave == SEVERAL:
        does = "read" if does == "reads" else "change by atomic operations"
        return f"several wavefronts {does}, with no barrier between them"
    return f"wavefront {info.other_wave} {does}, with no barrier between the two"


def _outside(info: FaultInfo, areas: Sequence[Area], does: str) -> tuple[Status, str]:
    def distance(area: Area) -> int:
        behind = int(info.address) + int(info.bytes) - (area.start + area.nbytes)
        return max(behind, area.start - int(info.address))

    nearest = min(areas, key=distance, default=None)
    if nearest is None or distance(nearest) > NEAR_BYTES:
        return Status.CRASHED, f"{does} at {info.address:#x}, where it has no memory"
    start, end = nearest.start, nearest.start + nearest.nbytes
    far = info.address - end if info.address >= start else start - info.address
    side = "before" if info.address < start else "behind"
    at = f"{far} bytes {side}" if far > 0 else "across the end of"
    at = "right behind" if info.address == end else at
    status = Status.WRONG if nearest.name else Status.CRASHED
    return status, f"{does} {at} {nearest.shown}"
