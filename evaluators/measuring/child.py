"""The process that holds one device and measures on it, asked by child_evaluator over pipes.

It tells before every run whose kernel runs and how long it may, so that its parent can end it.
"""

import ctypes
import math
import os
import select
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, NoReturn, Self

import numpy as np

from evaluators.checks.gpu_kernels import Trusted
from evaluators.checks.inputs import InputPool
from evaluators.cuda import device as cuda
from evaluators.device import BackendMissing, Buffer, Compiled, Device, Session, backend
from evaluators.evaluation import Evaluation, Rejected, Status
from evaluators.gpu.driver import DeviceFault
from evaluators.kernel.plan import Plan
from evaluators.measuring.evaluator import Evaluator, workloads_of
from evaluators.measuring.policy import TimingPolicy
from evaluators.measuring.race import AnchorFailed
from evaluators.sandbox.confine import die_with_parent, forbid_core_dumps
from evaluators.sandbox.frames import Ended, own_pipes, receive, send
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.task import Task
from evaluators.telemetry import Telemetry


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """Which device the child shall open."""

    backend: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the child's Evaluator is made of."""

    task: Task
    secret: int
    policy: TimingPolicy | None
    trusted: Trusted | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Warm:
    """What a process without a device may do until it is needed: draw inputs. Not answered.

    heavy_flops: work beyond which the device computes references.
    """

    backend: str
    task: Task
    secret: int
    heavy_flops: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A method of Evaluator, and its arguments."""

    method: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What is going on now: a kernel for at most so long, or, without one, work on the host.

    entries: what the kernel launches.
    """

    kernel_id: str = ""
    deadline_s: float = 0.0
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """lost: the device's context met a fault; this process can't go on."""

    value: Any = None
    error: Exception | None = None
    lost: bool = False


class Teller:
    """Tells the parent what is going on, and remembers faults."""

    def __init__(self, out: int) -> None:
        self._out = out
        self.lost = False

    def tell(self, what: Running | Reply) -> None:
        send(self._out, what)


class ToldSession:
    """A session whose runs are told; see device.Session."""

    def __init__(self, inner: Session, kernel_id: str, teller: Teller, *, shares: bool) -> None:
        """shares: a fault of the session is one of the whole device."""
        self.inner = inner
        self._kernel_id = kernel_id
        self._teller = teller
        self._shares = shares

    def alloc(self, nbytes: int) -> Buffer:
        return self.inner.alloc(nbytes)

    def write(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None:
        self.inner.write(buffer, array)

    def read(
        self, buffer: Buffer, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        return self.inner.read(buffer, dtype, shape)

    def fill(self, buffer: Buffer, byte: int) -> None:
        self.inner.fill(buffer, byte)

    def run(
        self, plan: Plan, buffers: Mapping[str, Buffer], *, deadline_s: float, prepare: bool = False
    ) -> None:
        with self._told(plan, deadline_s):
            self.inner.run(plan, buffers, deadline_s=deadline_s, prepare=prepare)

    def time(self, plan: Plan, bindings: Any, *, deadline_s: float) -> float:
        with self._told(plan, deadline_s):
            return self.inner.time(plan, bindings, deadline_s=deadline_s)

    def _told(self, plan: Plan, deadline_s: float) -> "_Told":
        entries = tuple(dict.fromkeys(launch.entry for launch in plan.launches))
        running = Running(kernel_id=self._kernel_id, deadline_s=deadline_s, entries=entries)
        return _Told(self._teller, running, shares=self._shares)

    def close(self) -> None:
        self.inner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Told:
    """One run between two words to the parent."""

    def __init__(self, teller: Teller, running: Running, *, shares: bool) -> None:
        self._teller = teller
        self._running = running
        self._shares = shares

    def __enter__(self) -> None:
        self._teller.tell(self._running)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        refused = isinstance(value, Rejected) and value.status is Status.LAUNCH_ERROR
        if self._shares and isinstance(value, Rejected | DeviceFault) and not refused:
            self._teller.lost = True
        self._teller.tell(Running())


class ToldDevice:
    """A device whose sessions tell; see device.Device."""

    def __init__(self, inner: Device, teller: Teller) -> None:
        self._inner = inner
        self._teller = teller
        self.info = inner.info

    def open(
        self, compiled: Compiled, *, memory_bytes: int, beside: Session | None = None
    ) -> ToldSession:
        inner = beside.inner if isinstance(beside, ToldSession) else beside
        session = self._inner.open(compiled, memory_bytes=memory_bytes, beside=inner)
        shares = self.info.backend != "cpu"
        return ToldSession(session, compiled.kernel_id, self._teller, shares=shares)

    def close(self) -> None:
        self._inner.close()


def warm(requests: int, wanted: Warm) -> InputPool:
    """A pool with its first draws made, as far as there is time before the next request."""
    backend(wanted.backend).device_count()  # loads the driver, but makes no context
    if wanted.backend == "cuda":
        cuda.compiler_version()
    pool = InputPool(wanted.task, secret=wanted.secret)
    workloads = workloads_of(wanted.task, ("tests", "benchmarks"), wanted.backend)
    flops = wanted.task.flops
    ready = select.poll()
    ready.register(requests, select.POLLIN)
    for index in range(2):
        for workload in workloads:
            if ready.poll(0):
                return pool
            draw = pool.get(workload, index)
            work = math.inf if flops is None else float(flops.evaluate(workload.dims))
            # To ask for them makes them.
            _ = draw.inputs if flops is not None and work > wanted.heavy_flops else draw.reference
    return pool


def serve(requests: int, teller: Teller) -> NoReturn:
    """Answer until the parent is gone or the device is lost."""
    pool: InputPool | None = None
    device: ToldDevice | None = None
    evaluator: Evaluator | None = None
    telemetry: Telemetry | None = None
    while True:
        try:
            request = receive(requests)
        except Ended:
            os._exit(0)
        try:
            value: Any = None
            match request:
                case Hello(backend=name, index=index):
                    device = ToldDevice(backend(name).open_device(index), teller)
                    telemetry = Telemetry(device.info)
                    value = device.info
                case Warm():
                    pool = warm(requests, request)
                    continue
                case Setting() if device is not None:
                    evaluator = Evaluator(
                        task=request.task,
                        device=device,
                        backend=device.info.backend,
                        secret=request.secret,
                        policy=request.policy,
                        pool=pool,
                        trusted=request.trusted,
                    )
                case Call() if evaluator is not None:
                    value = getattr(evaluator, request.method)(*request.arguments)
                    if isinstance(value, Evaluation) and telemetry is not None:
                        value = replace(value, telemetry=telemetry.read())
                case _:
                    raise ValueError(f"{request!r} came out of turn")
            reply = Reply(value=value, lost=teller.lost)
        except (AnchorFailed, BackendMissing, DeviceFault, Rejected, TaskError) as error:
            reply = Reply(error=error, lost=teller.lost or isinstance(error, DeviceFault))
        teller.tell(reply)
        if reply.lost:
            os._exit(0)  # not sys.exit: the driver's own clean-up would wait for the kernel


def main() -> NoReturn:
    """Argument: parent process."""
    die_with_parent(ctypes.CDLL(None, use_errno=True), int(sys.argv[1]))
    forbid_core_dumps()
    requests, answers = own_pipes()
    serve(requests, Teller(answers))


if __name__ == "__main__":
    # What travels is pickled by its module's name, which must not be __main__.
    from evaluators.measuring import child as gpu_child  # noqa: PLW0406

    gpu_child.main()
