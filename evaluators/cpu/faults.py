"""A signal that a kernel raised, told in one sentence: what was touched, and in terms of what."""

import signal
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from evaluators.cpu.run_child import Fault
from evaluators.cpu.toolchain import PAGE
from evaluators.evaluation import Rejected, Status

DIVERGED = 0x1D1700000000
"""KS_DIVERGED in ks/exchange.h: generated code reads this far plus the line of the kernel."""

MASK_NAMES, MASK_LACKS = 0x1D1800000000, 0x1D1900000000
"""KS_MASK_NAMES and KS_MASK_LACKS in ks/masks.h: this far plus MAX_LINES a lane plus the line."""

ASSERTED = 0x1D2800000000
"""KS_ASSERTED in ks/asserting.h: this far plus the line."""

MAX_LINES = 1 << 24
MAX_LANES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Memory that a kernel may touch, at an address of the child, with guard round it.

    outside: how an access to the guard is told: WRONG where checks put the guard there, else
    CRASHED. read_only: the kernel may not write to it.
    """

    name: str
    address: int
    nbytes: int
    guard_bytes: int
    outside: Status
    where: str = ""  # in the kernel's file, such as " (line 7)"
    read_only: bool = False

    def beyond(self, address: int) -> tuple[int, str] | None:
        """How far an address in the guard lies from here, and on which side."""
        past, before = address - (self.address + self.nbytes), self.address - address
        if 0 <= past < self.guard_bytes:
            return past, f"past the end of {self.name}{self.where}"
        if 0 < before <= self.guard_bytes:
            return before, f"before the start of {self.name}{self.where}"
        return None


def rejected(fault: Fault, places: Collection[Place]) -> Rejected:
    """Of an access: the place whose guard it touched, the nearest one."""
    name = signal.Signals(fault.signal).name
    if fault.signal == signal.SIGFPE:
        return _crashed(f"{name}: an integer division by zero, or one that overflows")
    if fault.signal == signal.SIGILL:
        return _crashed(f"{name}: a trap, or code that the compiler knows can't be reached")
    if fault.signal not in (signal.SIGSEGV, signal.SIGBUS):
        return _crashed(name)
    if fault.writing is not False and (told := _written(fault.address, places)):
        return Rejected(Status.WRONG, told, race=True)
    near = [(*found, place) for place in places if (found := place.beyond(fault.address))]
    if near:
        distance, side, place = min(near, key=lambda found: found[0])
        if place.outside is Status.WRONG:
            done = {True: "wrote", False: "read", None: "touched memory"}[fault.writing]
            return Rejected(Status.WRONG, f"{done} {side}, {distance} bytes from it")
        return _crashed(f"{name}: {_access(fault)} {distance} bytes {side}")
    if told := _told(fault.address):
        return _crashed(told)
    if 0 <= fault.address < PAGE:
        return _crashed(f"{name}: {_access(fault)} through a null pointer")
    return _crashed(f"{name}: {_access(fault)} outside of every buffer (or the stack is exhausted)")


def _written(address: int, places: Iterable[Place]) -> str | None:
    for place in places:
        into = address - place.address
        if place.read_only and 0 <= into < place.nbytes:
            return f"wrote to its input {place.name} (byte {into})"
    return None


def _access(fault: Fault) -> str:
    return {True: "a write", False: "a read", None: "an access"}[fault.writing]


def _crashed(reason: str) -> Rejected:
    return Rejected(Status.CRASHED, reason)


def _told(address: int) -> str | None:
    """What code of ours tells by reading an address: threads that disagree, and where."""
    if ASSERTED < address < ASSERTED + MAX_LINES:
        return f"an assertion failed (line {address - ASSERTED})"
    if DIVERGED < address < DIVERGED + MAX_LINES:
        return (
            f"divergent barrier: the threads of a block disagree on whether to reach it "
            f"(line {address - DIVERGED})"
        )
    for base, wrong in (
        (MASK_NAMES, "names lane {}, which does not take part there with that mask"),
        (MASK_LACKS, "lacks lane {}, which takes part there"),
    ):
        lane, line = divmod(address - base, MAX_LINES)
        if 0 <= lane < MAX_LANES:
            return (
                f"the mask of a _sync operation {wrong.format(lane)} (line {line}): an MI300 traps "
                "on that; write the operation without mask, as in __shfl_down(x, d) or __ballot(p)"
            )
    return None
