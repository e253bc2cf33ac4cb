"""What an emulated kernel would cost: an estimate by which kernels are ordered, and no time.

Estimated issue cycles a SIMD: what a kernel executed, each kind of instruction at the cycles that
CDNA3 needs to issue it (AMD's CDNA3 ISA guide and white paper: a SIMD of 16 lanes, a first-level
cache of 64 bytes a clock and an LDS of 128 for the four SIMDs of a compute unit), spread over all
SIMDs of the device as on a shape that fills it, for accesses of memory some cycles more where
few resident wavefronts hide them, and for each cache line that scattered lanes touch in vain.
Caches, bank conflicts, clocks and dependences are not modelled.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.device_info import DeviceInfo

SIMDS = 4
"""Of a compute unit."""
CYCLES: Mapping[str, float] = {
    "valu": 4,
    "valu.trans": 16,
    "mfma": 8,
    "salu": 1,
    "wait": 1,
    "branch": 4,
    "barrier": 16,
    "memory.scalar": 4,
    "memory.lds": 8,
    "memory.lds.atomic": 32,
    "memory.global": 16,
    "memory.global.atomic": 64,
    "memory.scratch": 32,
    "memory.lines": 8,
}
"""By kind, or by its first parts; what no row names takes a vector instruction's."""
PER_UNIT: Mapping[str, float] = {
    "mfma": 1,
    "memory.lds": 2,
    "memory.global": 4,
    "memory.scratch": 8,
}
"""Where a kind ends in a number, cycles for each of it, where that is more: bytes of a lane, and
of matrix instructions the cycles themselves."""
EXPOSED: Mapping[str, float] = {"memory.lds": 16, "memory.global": 64, "memory.scratch": 64}
"""Further cycles with one resident wavefront a SIMD; with n of them an n-th."""


def cost(
    counts: Mapping[str, Mapping[str, float]],
    resources: Sequence[Mapping[str, Any]],
    info: DeviceInfo,
) -> float:
    """Of what was executed. counts: as of device.Counting; resources: as of device.Compiled."""
    resident: dict[str, float] = {}
    for one in resources:
        symbol, waves = str(one.get("symbol", "")), float(one.get("waves_per_simd", 1.0))
        resident[symbol] = min(waves, resident.get(symbol, waves))
    cycles = sum(
        number * _cycles(kind, max(resident.get(symbol, 1.0), 0.25))
        for symbol, kinds in counts.items()
        for kind, number in kinds.items()
    )
    return cycles / (SIMDS * max(1, info.compute_units))


def _cycles(kind: str, resident: float) -> float:
    """Of one instruction of a wavefront."""
    name, _, last = kind.rpartition(".")
    number = int(last) if last.isdecimal() else 0
    whole = name if number else kind
    issue = max(_of(CYCLES, whole, CYCLES["valu"]), number * _of(PER_UNIT, whole, 0.0))
    return issue + _of(EXPOSED, whole, 0.0) / resident


def _of(table: Mapping[str, float], kind: str, default: float) -> float:
    """The row of the kind, or that of its first parts."""
    while kind:
        if kind in table:
            return table[kind]
        kind = kind.rpartition(".")[0]
    return default
