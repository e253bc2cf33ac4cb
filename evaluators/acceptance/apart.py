"""A process of its own with one device: a fault on a GPU takes the whole process's device along."""

import multiprocessing
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

import numpy as np

from evaluators.confine import forbid_core_dumps
from evaluators.device import BackendName, Compiled, Device, backend
from evaluators.evaluation import Rejected, Status
from evaluators.gpu import DeviceFault
from evaluators.plan import Plan

START_S = 60.0
"""What a process may take to start and to open its device; a GPU's driver takes seconds."""
LAUNCHES = 4
"""Of one timed call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a plan ended. memory: its buffers' bytes by name, when it passed."""

    status: Status
    reason: str
    memory: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """seconds: time the plan over and over for so long; 0 runs it once."""

    compiled: Compiled
    plan: Plan
    nbytes: Mapping[str, int]
    deadline_s: float
    seconds: float = 0.0


class Apart:
    """Starts at once; used until something but PASSED comes back, then closed."""

    def __init__(self, backend_name: BackendName, index: int = 0) -> None:
        self._here, there = multiprocessing.Pipe()
        self._child = multiprocessing.get_context("spawn").Process(
            target=_serve, args=(there, backend_name, index), daemon=True
        )
        self._child.start()
        there.close()

    def run(
        self, compiled: Compiled, plan: Plan, *, nbytes: Mapping[str, int], deadline_s: float
    ) -> Ended:
        """Once, with every buffer zeroed. nbytes: by buffer."""
        job = _Job(compiled=compiled, plan=plan, nbytes=nbytes, deadline_s=deadline_s)
        self._send(job)
        answer = self._answer(START_S + deadline_s)
        assert isinstance(answer, Ended), "one run has one ending"
        return answer

    def start_timing(
        self, compiled: Compiled, plan: Plan, *, nbytes: Mapping[str, int], seconds: float
    ) -> None:
        """Begin, without waiting, to time the plan for so long; times_us() waits."""
        self._send(
            _Job(compiled=compiled, plan=plan, nbytes=nbytes, deadline_s=START_S, seconds=seconds)
        )

    def times_us(self) -> list[float] | Ended:
        """Microseconds a launch, one a call; how it ended when it did not pass."""
        return self._answer(2 * START_S)

    def _send(self, job: _Job) -> None:
        with suppress(BrokenPipeError):  # the answer tells how the process ended
            self._here.send(job)

    def _answer(self, deadline_s: float) -> Ended | list[float]:
        try:
            if not self._here.poll(deadline_s):
                return Ended(status=Status.TIMEOUT, reason="the process did not answer")
            answer: Ended | list[float] = self._here.recv()
            return answer
        except (EOFError, ConnectionResetError):
            self._child.join()
            code = self._child.exitcode or 0
            said = f"the process ended with status {code}"
            reason = signal.Signals(-code).name if code < 0 else said
            return Ended(status=Status.CRASHED, reason=reason)

    def close(self) -> None:
        self._child.kill()
        self._child.join()
        self._here.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def run_apart(compiled: Compiled, plan: Plan, *, nbytes: int, deadline_s: float) -> Ended:
    """Run the plan once on device 0 in a process of its own, every buffer zeroed, nbytes large."""
    names = {arg for launch in plan.launches for arg in launch.args if isinstance(arg, str)}
    with Apart(compiled.backend) as apart:
        sizes = dict.fromkeys(sorted(names), nbytes)
        return apart.run(compiled, plan, nbytes=sizes, deadline_s=deadline_s)


def _serve(there: Connection, backend_name: BackendName, index: int) -> None:
    forbid_core_dumps()
    device = backend(backend_name).open_device(index)
    while True:
        try:
            job: _Job = there.recv()
        except EOFError:
            return
        try:
            there.send(_done(device, job))
        except (Rejected, DeviceFault) as error:
            status = error.status if isinstance(error, Rejected) else Status.CRASHED
            reason = error.reason if isinstance(error, Rejected) else str(error)
            there.send(Ended(status=status, reason=reason))


def _done(device: Device, job: _Job) -> Ended | list[float]:
    memory_bytes = sum(job.nbytes.values()) + 4096
    session = device.open(job.compiled, memory_bytes=memory_bytes)
    buffers = {name: session.alloc(nbytes) for name, nbytes in job.nbytes.items()}
    for buffer in buffers.values():
        session.fill(buffer, 0)
    if job.seconds:
        times_us: list[float] = []
        until = time.monotonic() + job.seconds
        while time.monotonic() < until or len(times_us) < 3:
            took = session.time(job.plan, [buffers] * LAUNCHES, deadline_s=job.deadline_s)
            times_us.append(took / LAUNCHES)
        session.close()
        return times_us
    session.run(job.plan, buffers, deadline_s=job.deadline_s)
    memory = {
        name: session.read(buffer, np.dtype(np.uint8), (buffer.nbytes,)).tobytes()
        for name, buffer in buffers.items()
    }
    session.close()
    return Ended(status=Status.PASSED, reason="", memory=memory)
