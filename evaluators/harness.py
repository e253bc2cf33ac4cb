"""The harness's own kernels on a GPU: copy, rotate, compare, find what changed; in batches."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.arguments import TaskError
from evaluators.device import Buffer, Compiled, Compiler, Device
from evaluators.evaluation import Rejected
from evaluators.gpu import DeviceFault
from evaluators.kernel import KernelSource, parse_kernel
from evaluators.plan import LaunchStep, MemsetStep, Plan, Scalar, Step
from evaluators.task import Task

SOURCE = Path(__file__).parent / "include" / "harness" / "harness.hip"
TYPES = ("float32", "float16", "bfloat16", "float8_e4m3fnuz", "int32")
THREADS = 256
MOST_BLOCKS = 2048
SLOTS = 1024
DEADLINE_S = 20.0
_FIELDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """What runs on a GPU and is believed. reference: the task's reference.hip, if it has one."""

    harness: Compiled
    reference: tuple[KernelSource, Compiled] | None = None


def compile_trusted(task: Task, compiler: Compiler, backend: str) -> Trusted:
    """Raises TaskError (its reference.hip does not compile) and BackendMissing."""
    slot = Buffer(0, 0)
    work = Work(slot)
    work.copy(slot, slot)
    work.rotate(slot, slot, 0)
    work.unchanged(slot, slot, 0)
    work.mask(slot, 0)
    for dtype in TYPES:
        work.compare(slot, slot, dtype=dtype, key=0, rtol=0.0, atol=0.0, slot=0)
    try:
        harness = compiler.compile(parse_kernel(SOURCE.read_text()), [work.plan()])
    except Rejected as rejected:
        raise DeviceFault(f"the harness's own kernels do not compile: {rejected}") from rejected
    path = task.folder / "reference.hip"
    if not path.is_file():
        return Trusted(harness=harness)
    if any(argument.role == "inout" for argument in task.arguments):
        raise TaskError(f"{path}: a task with inout arguments takes reference.py only; remove it")
    try:
        kernel = parse_kernel(path.read_text())
        plans = [
            kernel.plan(task, w.dims)
            for suite in task.suites
            for w in task.workloads(suite, backend)
        ]
        compiled = compiler.compile(kernel, plans)
    except Rejected as rejected:
        raise TaskError(f"{path}: {rejected}") from None
    if any(plan.scratch or plan.prepare for plan in plans):
        raise TaskError(f"{path}: a reference takes no scratch and no prepare launches")
    return Trusted(harness=harness, reference=(kernel, compiled))


class Work:
    """Operations that run together, in order. slots: where results go."""

    def __init__(self, slots: Buffer) -> None:
        self._steps: list[Step] = []
        self._slots = slots
        self.buffers: dict[str, Buffer] = {}

    def plan(self) -> Plan:
        return Plan(defines=(), steps=tuple(self._steps), prepare=(), scratch={})

    def fill(self, to: Buffer, byte: int) -> None:
        if to.nbytes:
            self._steps.append(MemsetStep(buffer=self._name(to), byte=byte))

    def copy(self, to: Buffer, source: Buffer) -> None:
        self._launch("copy", to.nbytes // 8, self._name(to), self._name(source), to.nbytes)

    def rotate(self, to: Buffer, source: Buffer, shift: int) -> None:
        """Bytes from shift on, then those before it."""
        names = self._name(to), self._name(source)
        self._launch("rotate", to.nbytes, *names, to.nbytes, shift)

    def unchanged(self, before: Buffer, after: Buffer, slot: int) -> None:
        names = self._name(before), self._name(after)
        self._launch("unchanged", after.nbytes // 8, *names, after.nbytes, self._slot(slot))

    def mask(self, reference: Buffer, key: int) -> None:
        """Hide, or show again, 8-byte values."""
        count = reference.nbytes // 8
        self._launch("mask", count, self._name(reference), count, key)

    def compare(
        self,
        out: Buffer,
        reference: Buffer,
        *,
        dtype: str,
        key: int,
        rtol: float,
        atol: float,
        slot: int,
    ) -> None:
        """An output against a masked reference, as checks.compare does it."""
        count = reference.nbytes // 8
        self._launch(
            f"compare<{TYPES.index(dtype)}>",
            count,
            *(self._name(out), self._name(reference), count, key),
            *(struct.unpack("<q", struct.pack("<d", limit))[0] for limit in (rtol, atol)),
            self._slot(slot),
        )

    def _slot(self, slot: int) -> str:
        each = 8 * _FIELDS
        return self._name(
            self._slots.view(slot * each, each) if self._slots.nbytes else self._slots
        )

    def _name(self, buffer: Buffer) -> str:
        name = f"b{buffer.offset}_{buffer.nbytes}"
        self.buffers[name] = buffer
        return name

    def _launch(self, entry: str, items: int, *args: str | int) -> None:
        blocks = min(MOST_BLOCKS, max(1, -(-items // THREADS)))
        self._steps.append(
            LaunchStep(
                entry=entry,
                grid=(blocks, 1, 1),
                block=(THREADS, 1, 1),
                lds_bytes=0,
                args=tuple(
                    a if isinstance(a, str) else Scalar(value=a, type="int64") for a in args
                ),
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """error: the largest, as checks.compare scales it. wrong: elements beyond tolerance.
    changed: words or bytes that differ."""

    error: float
    wrong: int
    changed: int

    @property
    def fine(self) -> bool:
        return not self.wrong and not self.changed


class Harness:
    """The harness's kernels, loaded on a GPU. Raises DeviceFault when they fail: nobody else's."""

    def __init__(self, device: Device, trusted: Trusted) -> None:
        slots_bytes = SLOTS * _FIELDS * 8
        self._session = device.open(trusted.harness, memory_bytes=slots_bytes)
        self._slots = self._session.alloc(slots_bytes)

    def work(self) -> Work:
        return Work(self._slots)

    def run(self, work: Work, slots: int = 0) -> list[Found]:
        """Do it all; what the first so many slots hold then."""
        if slots > SLOTS:
            raise ValueError(f"{slots} results at once, at most {SLOTS}")
        used = self._slots.view(0, slots * _FIELDS * 8)
        try:
            if slots:
                self._session.fill(used, 0)
            self._session.run(work.plan(), work.buffers, deadline_s=DEADLINE_S)
            if not slots:
                return []
            raw = self._session.read(used, np.dtype(np.uint64), (slots, _FIELDS))
        except Rejected as rejected:
            raise DeviceFault(f"the harness's own kernels failed: {rejected}") from rejected
        errors = raw[:, 0].copy().view(np.float64)
        return [
            Found(error=float(e), wrong=int(w), changed=int(c))
            for e, (_, w, c) in zip(errors, raw, strict=True)
        ]

    def close(self) -> None:
        self._session.close()


def unmasked(data: np.ndarray[Any, np.dtype[np.uint64]], key: int) -> Any:
    """The host's twin of the kernel mask (splitmix64, Steele et al., OOPSLA 2014)."""
    z = np.arange(1, data.size + 1, dtype=np.uint64)
    z *= np.uint64(0x9E3779B97F4A7C15)
    z += np.uint64(key)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z ^= z >> np.uint64(shift)
        z *= np.uint64(factor)
    z ^= z >> np.uint64(31)
    return data ^ z.reshape(data.shape)


def probe(harness: Harness, device: Device, trusted: Trusted) -> None:
    """A known answer from a known question. Raises DeviceFault."""
    values = np.arange(1000, dtype=np.float32)
    expected = values.astype(np.float64)
    expected[[3, 500, 999]] += 2.0
    with device.open(trusted.harness, memory_bytes=1 << 20) as session:
        try:
            out, moved, reference = (session.alloc(n) for n in (4000, 4000, 8000))
            session.write(out, values)
            session.write(reference, expected)
        except Rejected as rejected:
            raise DeviceFault(f"a device that should be idle has no memory: {rejected}") from None
        work = harness.work()
        work.copy(moved, out)
        work.mask(reference, 12345)
        work.compare(moved, reference, dtype="float32", key=12345, rtol=0.0, atol=0.5, slot=0)
        work.unchanged(out, moved, 0)
        (found,) = harness.run(work, 1)
    if (found.error, found.wrong, found.changed) != (4.0, 3, 0):
        raise DeviceFault(f"the device computes wrongly: a known comparison gave {found}")
