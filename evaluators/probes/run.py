"""A probe's runs on a device: what its buffers hold then, and how long each case takes."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from evaluators.device import ALIGNMENT, Buffer, Device, Session
from evaluators.device_info import DeviceInfo
from evaluators.dtypes import is_floating
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Plan
from evaluators.probes.measured import REPEATS, Array, Interval, Measured
from evaluators.probes.probe import Answer, BuiltCase, BuiltProbe, Run
from evaluators.probes.reader import ProbeBuffer
from evaluators.probes.shipped import reading
from evaluators.tasks.arguments import DTYPES

DEADLINE_S = 20.0
"""For a whole probe, after which it is a TIMEOUT."""
RUN_S = 5.0
"""For one call: probes are small, and one that hangs shall not hold a device for long."""

LEAST_REPEATS = 3
TIMING_S = 1.5
"""After which LEAST_REPEATS are enough."""
WARM_UP_S = 0.2
"""Of the first case, untimed: clocks rise, and in a new process copies become faster by a fifth."""
MOST_APPLICATIONS = 200
GPU_CALL_US, CPU_CALL_US = 1000.0, 5000.0
"""What a timed call lasts at least, as far as MOST_APPLICATIONS allows."""

GUARD_BYTES = 4096
GUARD_BYTE = 0xA5
RANDOM_ELEMENTS = 1 << 20
"""Random values come again after so many elements."""


def answer(device: Device, built: BuiltProbe, deadline_s: float = DEADLINE_S) -> Answer:
    """Run a probe, and say what it tells; one that fails is an answer, too.

    Raises what broken infrastructure raises (DeviceFault), and Rejected only for a process that
    was killed from outside.
    """
    started = time.perf_counter()
    probe = built.probe
    try:
        measured = measure(device, built, deadline_s)
    except Rejected as rejected:
        if rejected.killed:
            raise
        seconds = time.perf_counter() - started
        return Answer.of_rejected(probe.text, rejected, seconds=seconds)
    return Answer(
        probe_id=probe.id,
        question=probe.question,
        status=Status.PASSED,
        sentences=reading(built, measured, device.info),
        seconds=time.perf_counter() - started,
    )


def measure(
    device: Device, built: BuiltProbe, deadline_s: float = DEADLINE_S
) -> tuple[Measured, ...]:
    """Every case, in order. Raises Rejected: LAUNCH_ERROR, WRONG (it wrote beyond its buffers),
    FORBIDDEN, CRASHED, TIMEOUT."""
    left = _Left(deadline_s)
    sizes = built.nbytes
    memory_bytes = sum(sizes.values()) + (2 * GUARD_BYTES + ALIGNMENT) * len(sizes)
    with device.open(built.compiled, memory_bytes=memory_bytes) as session:
        memory = _Memory(session, built)
        shown = [_shown(session, memory, built, case, left) for case in built.cases]
        times = _times(session, memory, built.cases, device.info, left)
        memory.check()
    return tuple(
        Measured(
            values=case.values,
            us=Interval.of(taken),
            counted=case.counted,
            repeats=len(taken),
            shown=first,
        )
        for case, taken, first in zip(built.cases, times, shown, strict=True)
    )


class _Left:
    """What is left of a probe's time."""

    def __init__(self, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self._until = time.monotonic() + deadline_s

    def run_s(self) -> float:
        """For the next run. Raises Rejected(TIMEOUT)."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise Rejected(Status.TIMEOUT, f"the probe took longer than {self._deadline_s:g} s")
        return min(left, RUN_S)


class _Memory:
    """A probe's buffers on the device, each between two guards that nobody may write to."""

    def __init__(self, session: Session, built: BuiltProbe) -> None:
        self._session = session
        self._specs = built.probe.buffers
        self._whole: dict[str, Buffer] = {}
        self._guards: dict[str, tuple[Buffer, Buffer]] = {}
        for name, nbytes in built.nbytes.items():
            allocated = session.alloc(nbytes + 2 * GUARD_BYTES)
            before = allocated.view(0, GUARD_BYTES)
            after = allocated.view(GUARD_BYTES + nbytes, GUARD_BYTES)
            self._whole[name] = allocated.view(GUARD_BYTES, nbytes)
            self._guards[name] = before, after
            session.fill(before, GUARD_BYTE)
            session.fill(after, GUARD_BYTE)

    def binding(self, run: Run) -> dict[str, Buffer]:
        return {
            name: self._whole[name].view(0, count * self.dtype(name).itemsize)
            for name, count in run.elements.items()
        }

    def dtype(self, name: str) -> np.dtype[Any]:
        return DTYPES[self._specs[name].dtype]

    def refill(self, run: Run) -> None:
        for name, buffer in self.binding(run).items():
            spec = self._specs[name]
            if spec.fill == "zero":
                self._session.fill(buffer, 0)
            else:
                self._session.write(buffer, contents(spec, run.elements[name]))

    def check(self) -> None:
        """Raises Rejected(WRONG)."""
        for name, guards in self._guards.items():
            for guard, where in zip(guards, ("before", "behind"), strict=True):
                held = self._session.read(guard, np.dtype(np.uint8), (GUARD_BYTES,))
                if (held != GUARD_BYTE).any():
                    reason = f"the probe wrote {where} its buffer {name}"
                    raise Rejected(Status.WRONG, reason, trespass=True)


def contents(buffer: ProbeBuffer, elements: int) -> Array:
    """What a buffer holds before a case runs; the same each time."""
    dtype = DTYPES[buffer.dtype]
    if buffer.fill == "one":
        return np.ones(elements, dtype)
    if buffer.fill == "iota":
        return np.arange(elements).astype(dtype)
    rng = np.random.default_rng(0)
    count = min(elements, RANDOM_ELEMENTS)
    if is_floating(dtype):
        return np.resize(rng.random(count).astype(dtype), elements)
    most = 2 if dtype == np.bool_ else min(1024, int(np.iinfo(dtype).max) + 1)
    return np.resize(rng.integers(0, most, count).astype(dtype), elements)


def _shown(
    session: Session, memory: _Memory, built: BuiltProbe, case: BuiltCase, left: _Left
) -> dict[str, Array]:
    """Of one run on freshly filled buffers."""
    memory.refill(case.run)
    buffers = memory.binding(case.run)
    session.run(case.run.plan, buffers, deadline_s=left.run_s())
    memory.check()
    shown = {}
    for name, count in built.probe.front.show.items():
        dtype = memory.dtype(name)
        first = min(count, case.run.elements[name])
        shown[name] = session.read(buffers[name].view(0, first * dtype.itemsize), dtype, (first,))
    return shown


def _times(
    session: Session,
    memory: _Memory,
    cases: Sequence[BuiltCase],
    info: DeviceInfo,
    left: _Left,
) -> list[list[float]]:
    """Microseconds of a run by case, less the baseline's of the same turn."""
    calls = [_calls(session, memory, case, info, left) for case in cases]
    warm = time.monotonic() + WARM_UP_S
    while time.monotonic() < warm:
        calls[0][0]()
    times: list[list[float]] = [[] for _ in cases]
    until = time.monotonic() + TIMING_S
    for turn in range(REPEATS):
        if turn >= LEAST_REPEATS and time.monotonic() > until:
            break
        for taken, timed in zip(times, calls, strict=True):
            us = [one() for one in timed]
            taken.append(us[0] - sum(us[1:]))
    return times


def _calls(
    session: Session, memory: _Memory, case: BuiltCase, info: DeviceInfo, left: _Left
) -> list[Callable[[], float]]:
    """Ways to time a case and its baseline, after a call of each to see how long it takes."""

    least_us = CPU_CALL_US if info.backend == "cpu" else GPU_CALL_US
    ways: list[Callable[[], float]] = []
    for run in case.runs:
        memory.refill(run)
        timed = partial(_time_us, session, run.plan, memory.binding(run), left)
        rough_us = timed(1)
        most = max(1, MOST_APPLICATIONS // len(run.plan.steps))
        ways.append(partial(timed, int(min(max(1.0, least_us / max(rough_us, 0.1)), most))))
    return ways


def _time_us(
    session: Session, plan: Plan, buffers: Mapping[str, Buffer], left: _Left, count: int
) -> float:
    """Of one run, of count in a row."""
    return session.time(plan, [buffers] * count, deadline_s=left.run_s()) / count
