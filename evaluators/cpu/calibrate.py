"""What one core can do at best: float32 FMAs and bytes a second, by kernels of our own."""

import hashlib
import json
import math
import os
import time
from dataclasses import asdict, dataclass

import numpy as np

from evaluators.cpu.compiler import CpuCompiler
from evaluators.cpu.session import CpuSession
from evaluators.cpu.toolchain import cache_folder, cpu_flags, cpu_info, toolchain
from evaluators.device import Buffer
from evaluators.kernel.plan import LaunchStep, Plan, Scalar
from evaluators.kernel.source import parse_kernel

CHAINS = 12
"""Independent FMAs in flight: at least latency (4) times units (2), within 16 registers."""

_ROUNDS = 200_000
_MAX_DRAM_BYTES = 128 << 20
_DEADLINE_S = 30.0
_SPREAD_S, _PAUSE_S = 0.5, 0.01
"""Tries are this far apart and go on for so long: a neighbour that shares the core's units may
halve what it does, and seldom works without a break."""
_TRIES = 20
"""At least: on a busy machine so short a time may hold one only, and that a bad one."""

_SOURCE = """/*---
launches:
  - {kernel: multiply_add, grid: [1], block: [1], args: []}
  - {kernel: copy, grid: [1], block: [1], args: []}
  - {kernel: sum, grid: [1], block: [1], args: []}
params: {LANES: 64}
---*/
typedef float Wide __attribute__((vector_size(LANES / CHAINS * sizeof(float))));
__global__ void multiply_add(float *data, int rounds) {
    // Variables, not an array: compilers keep no array of vectors in registers.
    Wide *at = (Wide *)data;
    DECLARE
    const Wide factor = at[CHAINS], term = at[CHAINS + 1];
    for (int round = 0; round < rounds; ++round) {
        UPDATE
    }
    STORE
}
__global__ void copy(const float *__restrict__ from, float *__restrict__ to, int n) {
    for (int i = 0; i < n; ++i) to[i] = from[i] + 1.0f;
}
__global__ void sum(const float *__restrict__ from, float *__restrict__ to, int n) {
    int lane[LANES];
    for (int i = 0; i < LANES; ++i) lane[i] = 0;
    for (int k = 0; k + LANES <= n; k += LANES)
        for (int i = 0; i < LANES; ++i) lane[i] += __float_as_int(from[k + i]);
    for (int i = 0; i < LANES; ++i) to[i] = (float)lane[i];
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """One core's best."""

    flops: float
    cache_bytes_per_s: float
    dram_bytes_per_s: float


def peaks(core: int, last_cache_bytes: int) -> Peaks:
    """Measured once for a processor, compiler and version of this file, then read from a cache."""
    text = "\n".join(
        [cpu_info().get("model name", ""), toolchain().name, f"{_SPREAD_S} {_TRIES}", _SOURCE]
    )
    path = cache_folder() / f"peaks-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if path.exists():
        return Peaks(**json.loads(path.read_text()))
    measured = _measure(core, last_cache_bytes)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(asdict(measured)))
    os.replace(draft, path)
    return measured


def _lanes() -> int:
    flags = cpu_flags()
    return CHAINS * (16 if "avx512f" in flags else 8 if "avx2" in flags else 4)


def _measure(core: int, last_cache_bytes: int) -> Peaks:
    lanes = _lanes()
    source = _SOURCE.replace("LANES: 64", f"LANES: {lanes}, CHAINS: {CHAINS}")
    for word, line in (
        ("DECLARE", "Wide x{0} = at[{0}];"),
        ("UPDATE", "x{0} = x{0} * factor + term;"),
        ("STORE", "at[{0}] = x{0};"),
    ):
        source = source.replace(word, " ".join(line.format(chain) for chain in range(CHAINS)))
    kernel = parse_kernel(source)

    # Rounds are launches of their own: a compiler would merge those of a loop.
    def plan(rounds: int, entry: str, *args: str | int) -> Plan:
        step = LaunchStep(
            entry=entry,
            grid=(1, 1, 1),
            block=(1, 1, 1),
            lds_bytes=0,
            args=tuple(a if isinstance(a, str) else Scalar(value=a, type="int32") for a in args),
        )
        return Plan(
            defines=(("CHAINS", CHAINS), ("LANES", lanes)),
            steps=(step,) * rounds,
            prepare=(),
            scratch={},
        )

    compute = plan(1, "multiply_add", "from", _ROUNDS)
    dram = min(4 * last_cache_bytes, _MAX_DRAM_BYTES)
    moves: dict[str, list[tuple[Plan, int]]] = {"cache": [], "dram": []}
    for level, nbytes, rounds in (
        ("cache", 12 << 10, 2000),
        ("cache", 128 << 10, 200),
        ("dram", dram, 1),
    ):
        for entry, touched in (("copy", 2), ("sum", 1)):
            move = plan(rounds, entry, "from", "to", nbytes // 4)
            moves[level].append((move, touched * nbytes * rounds))
    compiled = CpuCompiler().compile(kernel, [compute, *(p for p, _ in moves["cache"])])
    with CpuSession(compiled, core=core, memory_bytes=2 * dram + (1 << 20)) as session:
        buffers = {"from": session.alloc(dram), "to": session.alloc(dram)}
        session.write(buffers["from"], np.full(dram // 4, 0.5, np.float32))
        return Peaks(
            flops=2.0 * lanes * _ROUNDS / _best_s(session, compute, buffers),
            cache_bytes_per_s=_best_rate(session, moves["cache"], buffers),
            dram_bytes_per_s=_best_rate(session, moves["dram"], buffers),
        )


def _best_rate(
    session: CpuSession, moves: list[tuple[Plan, int]], buffers: dict[str, Buffer]
) -> float:
    return max(nbytes / _best_s(session, move, buffers) for move, nbytes in moves)


def _best_s(session: CpuSession, plan: Plan, buffers: dict[str, Buffer]) -> float:
    best_us = math.inf
    until = time.monotonic() + _SPREAD_S
    tries = 0
    while tries < _TRIES or time.monotonic() < until:
        tries += 1
        best_us = min(best_us, session.time(plan, [buffers], deadline_s=_DEADLINE_S))
        time.sleep(_PAUSE_S)
    return best_us / 1e6
