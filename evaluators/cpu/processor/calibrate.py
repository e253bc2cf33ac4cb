"""What one core can do at best, by kernels of our own: float32 FMAs, bytes a second by level."""

import hashlib
import json
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from evaluators.cpu.compiler import CpuCompiler
from evaluators.cpu.session import CpuSession
from evaluators.cpu.toolchain import cpu_flags, cpu_info, toolchain
from evaluators.cxx import cache_folder
from evaluators.device import Buffer
from evaluators.kernel.plan import LaunchStep, Plan, Scalar
from evaluators.kernel.source import parse_kernel

CHAINS = 12
"""Independent FMAs in flight: at least latency (4) times units (2), within 16 registers."""

_ROUNDS = 200_000
_MOVED_BYTES = 16 << 20
"""A try's, in caches: some tenth of a millisecond's, by rounds over what fits there."""
_MAX_DRAM_BYTES = 128 << 20
_DEADLINE_S = 30.0
_SPREAD_S, _PAUSE_S = 2.0, 0.01
"""Rounds of tries are this far apart and go on for so long: a neighbour that shares the core's
units may halve what it does, and seldom works without a break."""
_TRIES = 20
"""At least: on a busy machine so short a time may hold one only, and that a bad one."""

_SOURCE = """/*---
launches:
  - {kernel: multiply_add, grid: [1], block: [1], args: []}
  - {kernel: copy, grid: [1], block: [1], args: []}
  - {kernel: add, grid: [1], block: [1], args: []}
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
__global__ void add(const float *__restrict__ from, float *__restrict__ to, int n) {
    for (int i = 0; i < n; ++i) to[i] = from[i] + from[n + i];
}
__global__ void sum(const float *__restrict__ from, float *__restrict__ to, int n) {
    int lane[LANES];
    for (int i = 0; i < LANES; ++i) lane[i] = 0;
    for (int k = 0; k + LANES <= n; k += LANES)
        for (int i = 0; i < LANES; ++i) lane[i] += __float_as_int(from[k + i]);
    for (int i = 0; i < LANES; ++i) to[i] = (float)lane[i];
}
"""


_STREAMS = {"copy": 2, "add": 3, "sum": 1}
"""How many times n elements each of these kernels reads or writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """One core's best. bytes_per_s: by memory level, "dram" the last."""

    flops: float
    bytes_per_s: Mapping[str, float]


def peaks(core: int, caches: Mapping[str, int]) -> Peaks:
    """Measured once for a processor, compiler and version of this file, then read from a cache.

    caches: bytes by level, nearest first.
    """
    tries, processor = f"{_SPREAD_S} {_TRIES} {caches}", cpu_info().get("model name", "")
    text = "\n".join([processor, toolchain().name, tries, _SOURCE])
    path = cache_folder() / f"peaks-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if path.exists():
        return Peaks(**json.loads(path.read_text()))
    measured = _measure(core, caches)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(asdict(measured)))
    os.replace(draft, path)
    return measured


def _lanes() -> int:
    flags = cpu_flags()
    return CHAINS * (16 if "avx512f" in flags else 8 if "avx2" in flags else 4)


def sets_of(caches: Mapping[str, int]) -> dict[str, int]:
    """Bytes to move over for each level's speed: half of it, or four times the one before, which
    then serves little of them; a level that is no larger than the one before has none."""
    found, nearer = {}, 0
    for level, nbytes in caches.items():
        if nbytes > 2 * nearer:
            found[level] = min(nbytes // 2, 4 * nearer or nbytes)
            nearer = nbytes
    return {**found, "dram": min(4 * nearer, _MAX_DRAM_BYTES)}


def no_faster_beyond(bytes_per_s: Mapping[str, float]) -> dict[str, float]:
    """Each level as fast at least as those beyond it, whatever a busy machine let it be."""
    rates = list(bytes_per_s.values())
    return {level: max(rates[i:]) for i, level in enumerate(bytes_per_s)}


def _measure(core: int, caches: Mapping[str, int]) -> Peaks:
    lanes = _lanes()
    source = _SOURCE.replace("LANES: 64", f"LANES: {lanes}, CHAINS: {CHAINS}")
    for word, line in (
        ("DECLARE", "Wide x{0} = at[{0}];"),
        ("UPDATE", "x{0} = x{0} * factor + term;"),
        ("STORE", "at[{0}] = x{0};"),
    ):
        source = source.replace(word, " ".join(line.format(chain) for chain in range(CHAINS)))
    sets = sets_of(caches)
    compute = _plan(lanes, 1, "multiply_add", "from", _ROUNDS)
    moves = [(level, *move) for level, nbytes in sets.items() for move in _moves(lanes, nbytes)]
    plans = [compute, *(plan for _, plan, _ in moves)]
    compiled = CpuCompiler().compile(parse_kernel(source), plans)
    room = max(sets.values()) + (1 << 16)
    with CpuSession(compiled, core=core, memory_bytes=2 * room + (1 << 20)) as session:
        buffers = {"from": session.alloc(room), "to": session.alloc(room)}
        session.write(buffers["from"], np.full(room // 4, 0.5, np.float32))
        compute_s, *moves_s = _best_s(session, plans, buffers)
    rates = dict.fromkeys(sets, 0.0)
    for (level, _, nbytes), seconds in zip(moves, moves_s, strict=True):
        rates[level] = max(rates[level], nbytes / seconds)
    return Peaks(flops=2.0 * lanes * _ROUNDS / compute_s, bytes_per_s=no_faster_beyond(rates))


def _moves(lanes: int, nbytes: int) -> Iterator[tuple[Plan, int]]:
    """Plans that move over a set of so many bytes, and how many bytes each moves."""
    for entry, streams in _STREAMS.items():
        n = nbytes // (4 * streams)
        rounds = max(1, _MOVED_BYTES // nbytes)
        yield _plan(lanes, rounds, entry, "from", "to", n), 4 * streams * n * rounds


def _plan(lanes: int, rounds: int, entry: str, *args: str | int) -> Plan:
    """Rounds are launches of their own: a compiler would merge those of a loop."""
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


def _best_s(
    session: CpuSession, plans: Sequence[Plan], buffers: Mapping[str, Buffer]
) -> list[float]:
    """Of each plan: all take turns, so that each is tried over the whole time."""
    best_us = [math.inf] * len(plans)
    until = time.monotonic() + _SPREAD_S
    tries = 0
    while tries < _TRIES or time.monotonic() < until:
        tries += 1
        for i, plan in enumerate(plans):
            taken_us = session.time(plan, [buffers], deadline_s=_DEADLINE_S)
            best_us[i] = min(best_us[i], taken_us)
        time.sleep(_PAUSE_S)
    return [us / 1e6 for us in best_us]
