"""The shipped probes of a backend and architecture, and what is read from each."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from string import Template

from evaluators.device_info import DeviceInfo
from evaluators.probes.measured import Measured
from evaluators.probes.probe import BuiltProbe, Probe, parse_probe
from evaluators.probes.readings import FUNCTIONS, READINGS
from evaluators.probes.telling import told

FOLDER = Path(__file__).parent / "kernels"

ON_CPU = ("copy", "vectors", "functions", "empty", "exchange", "atomic")
ON_GPUS = ("copy", "lds", "barrier", "shuffle", "shuffle_order", "atomic", "functions", "empty")
OF_ARCH: Mapping[str, tuple[str, ...]] = {
    "gfx942": ("mfma",),
    "sm_90": ("tensor_cores",),
}
FAST_VARIANTS = (2, 4, 9)
"""Of FUNCTIONS, those with two underscores, which on cpu are the others."""

GPU_COPY_BYTES, CPU_COPY_BYTES = 512 << 20, 64 << 20
CPU_AGAIN_BYTES = 16 << 20
"""What a copy within a cache moves one way, by rounds; on GPUs as much as the largest does."""
_STEP = 4096


def shipped(info: DeviceInfo) -> tuple[Probe, ...]:
    """The set for a device; the same one for devices that are told the same of."""
    return tuple(catalogue(info).values())


def catalogue(info: DeviceInfo) -> dict[str, Probe]:
    """The same by the names of READINGS."""
    names = ON_CPU if info.backend == "cpu" else (*ON_GPUS, *OF_ARCH.get(info.arch, ()))
    return {name: _parsed(_text(name, info)) for name in names}


def reading(built: BuiltProbe, measured: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    """What a probe's cases say: together for a shipped one, one by one for any other."""
    for name, probe in catalogue(info).items():
        if probe.id == built.probe.id:
            return READINGS[name](measured, info)
    return told(built, measured, info)


@lru_cache(maxsize=64)
def _parsed(text: str) -> Probe:
    return parse_probe(text)


def _text(name: str, info: DeviceInfo) -> str:
    on_cpu = info.backend == "cpu"
    values = {
        "copy": {"cases": _copies(info)},
        "empty": {"blocks": str(16384 if on_cpu else 65536)},
        "atomic": {"blocks": str(256 if on_cpu else 4096)},
        "functions": _functions(info),
    }
    text = (FOLDER / f"{name}.hip").read_text(encoding="utf-8")
    return Template(text).substitute(values[name]) if name in values else text


def _copies(info: DeviceInfo) -> str:
    """The largest by every width, what is served by caches by the widest alone."""
    widths: tuple[int, ...]
    if info.backend == "cpu":
        largest, widths, again = CPU_COPY_BYTES, (16, 4, 1), CPU_AGAIN_BYTES
    else:
        largest, widths = max(GPU_COPY_BYTES, 2 * info.cache_bytes), (16, 8, 4, 2, 1)
        again = largest
    rows = [(largest, width, 1) for width in widths]
    held = {holds for _, holds, _ in info.levels if holds < math.inf} | {info.cache_bytes}
    for holds in sorted(held):
        nbytes = max(_STEP, int(holds) // 4 // _STEP * _STEP)
        if nbytes < largest // 2:
            rows.append((nbytes, 16, max(1, again // nbytes)))
    cases = (f"{{BYTES: {b}, WIDTH: {w}, ROUNDS: {r}}}" for b, w, r in rows)
    return f"[{', '.join(cases)}]"


def _functions(info: DeviceInfo) -> dict[str, str]:
    """On cpu over what its first cache holds; on GPUs in registers, by all of their units."""
    if info.backend == "cpu":
        wanted = [f for f in (0, *FUNCTIONS) if f not in FAST_VARIANTS]
        kernel, more, size = "each", "{value: 16, type: int32}", "BLOCKS: 4096"
        elements, per = "16 * 256", "BLOCKS * 256"
    else:
        wanted = [0, *FUNCTIONS]
        kernel, more, size = "chains", "ROUNDS", "BLOCKS: 2112, ROUNDS: 256"
        elements, per = "BLOCKS * 256", "BLOCKS * 256 * 4 * ROUNDS"
    launches = [
        f'  - {{kernel: {kernel}<{f}>, when: "F == {f}", grid: ["BLOCKS"], block: [256],\n'
        f"     args: [out, {more}, {{value: 4, type: float32}}]}}"
        for f in wanted
    ]
    cases = ", ".join(f"{{F: {f}, {size}}}" for f in wanted)
    return {
        "cases": f"[{cases}]",
        "launches": "\n".join(launches),
        "elements": elements,
        "per": per,
    }
