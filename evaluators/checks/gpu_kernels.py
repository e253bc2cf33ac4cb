"""The harness's own kernels on a GPU: copy, rotate, compare, find what changed; in batches."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.device import Buffer, Compiled, Compiler, Device
from evaluators.device_info import BackendMissing, DeviceFault
from evaluators.evaluation import Rejected
from evaluators.kernel.plan import LaunchStep, MemsetStep, Plan, Step
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.task import Task

SOURCE = Path(__file__).parents[1] / "include" / "harness" / "harness.hip"
TYPES = ("float32", "float16", "bfloat16", "float8_e4m3fnuz", "int32")
ENTRIES = (
    "copy_jobs",
    "rotate_jobs",
    "mask_jobs",
    *(f"compare_jobs<{i}>" for i in range(len(TYPES))),
    "unchanged_jobs",
)
THREADS = 256
MOST_BLOCKS = 4096
SLOTS = 1024
FIELDS = 5
MOST_JOBS = 8192
DEADLINE_S = 20.0
_JOB = struct.Struct("=QQqqqddQ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """What runs on a GPU and is believed. naive: the task's seed. reference: its reference.hip, if
    it has one."""

    harness: Compiled
    naive: tuple[KernelSource, Compiled] | None = None
    reference: tuple[KernelSource, Compiled] | None = None


def compile_trusted(task: Task, compiler: Compiler, backend: str) -> Trusted:
    """Raises TaskError (its reference.hip does not compile) and BackendMissing.

    No task and no device is to blame when the harness's own kernels do not compile.
    """
    steps = tuple(_launch(entry, 1, 1) for entry in ENTRIES)
    try:
        harness = compiler.compile(parse_kernel(SOURCE.read_text()), [_plan(steps)])
    except Rejected as rejected:
        raise BackendMissing(
            f"the harness's own kernels do not compile for {backend} ({rejected}): "
            "its compiler or headers are not whole, see 'kernel-scientist doctor'; if they are, "
            "this is a bug: report it"
        ) from rejected
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
    """Operations to do together: fills, then copies, rotations, masks, comparisons, changes.

    slots: where results go. Sizes and limits: bytes of buffers, elements of 8-byte references.
    """

    def __init__(self, slots: Buffer) -> None:
        self._slots = slots
        self._fills: list[tuple[Buffer, int]] = []
        self._jobs: dict[str, list[bytes]] = {entry: [] for entry in ENTRIES}
        self._items: dict[str, int] = dict.fromkeys(ENTRIES, 0)

    def fill(self, to: Buffer, byte: int) -> None:
        if to.nbytes:
            self._fills.append((to, byte))

    def copy(self, to: Buffer, source: Buffer) -> None:
        self._add("copy_jobs", to.nbytes // 8, to, source, to.nbytes)

    def rotate(self, to: Buffer, source: Buffer, shift: int) -> None:
        """Bytes from shift on, then those before it."""
        self._add("rotate_jobs", to.nbytes, to, source, to.nbytes, shift=shift)

    def mask(self, reference: Buffer, key: int) -> None:
        """Hide, or show again, 8-byte values."""
        count = reference.nbytes // 8
        self._add("mask_jobs", count, reference, reference, count, key=key)

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
        count, entry = reference.nbytes // 8, f"compare_jobs<{TYPES.index(dtype)}>"
        self._add(entry, count, out, reference, count, key=key, rtol=rtol, atol=atol, slot=slot)

    def unchanged(self, before: Buffer, after: Buffer, slot: int) -> None:
        self._add("unchanged_jobs", after.nbytes // 8, after, before, after.nbytes, slot=slot)

    def _add(
        self,
        entry: str,
        items: int,
        to: Buffer,
        source: Buffer,
        count: int,
        *,
        shift: int = 0,
        key: int = 0,
        rtol: float = 0.0,
        atol: float = 0.0,
        slot: int = 0,
    ) -> None:
        where = self._slots.offset + slot * FIELDS * 8
        job = _JOB.pack(to.offset, source.offset, count, shift, key, rtol, atol, where)
        self._jobs[entry].append(job)
        self._items[entry] = max(self._items[entry], items)

    def table(self) -> bytes:
        return b"".join(job for jobs in self._jobs.values() for job in jobs)

    def steps(self, table: Buffer) -> tuple[tuple[Step, ...], dict[str, Buffer]]:
        """What to launch, and the buffers by the names in it. table: where table() lies."""
        steps: list[Step] = []
        buffers: dict[str, Buffer] = {}
        for i, (buffer, byte) in enumerate(self._fills):
            buffers[f"fill{i}"] = buffer
            steps.append(MemsetStep(buffer=f"fill{i}", byte=byte))
        at = 0
        for entry, jobs in self._jobs.items():
            if jobs:
                nbytes = len(jobs) * _JOB.size
                buffers[entry] = table.view(at, nbytes)
                at += nbytes
                steps.append(_launch(entry, self._items[entry], len(jobs)))
        return tuple(steps), buffers


def _launch(entry: str, items: int, jobs: int) -> LaunchStep:
    """items: of the largest job. Threads stride over what is more than a few thousand blocks."""
    blocks = min(-(-items // THREADS), max(32, MOST_BLOCKS // jobs))
    return LaunchStep(
        entry=entry,
        grid=(max(1, blocks), jobs, 1),
        block=(THREADS, 1, 1),
        lds_bytes=0,
        args=(entry,),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """error: the largest, as checks.compare scales it. wrong: elements beyond tolerance.
    changed: words or bytes that differ. beyond, ulps: sums of squares, see budget.Error's rms and
    ulp."""

    error: float
    wrong: int
    changed: int
    beyond: float = 0.0
    ulps: float = 0.0

    @property
    def fine(self) -> bool:
        return not self.wrong and not self.changed


def _plan(steps: tuple[Step, ...]) -> Plan:
    return Plan(defines=(), steps=steps, prepare=(), scratch={})


class Harness:
    """The harness's kernels, loaded on a GPU. Raises DeviceFault when they fail: nobody else's."""

    def __init__(self, device: Device, trusted: Trusted) -> None:
        slots_bytes, table_bytes = SLOTS * FIELDS * 8, MOST_JOBS * _JOB.size
        self._session = device.open(trusted.harness, memory_bytes=slots_bytes + table_bytes)
        self._slots = self._session.alloc(slots_bytes)
        self._table = self._session.alloc(table_bytes)

    def work(self) -> Work:
        return Work(self._slots)

    def run(self, work: Work, slots: int = 0) -> list[Found]:
        """Do it all; what the first so many slots hold then."""
        table = np.frombuffer(work.table(), np.uint8)
        if slots > SLOTS or table.nbytes > self._table.nbytes:
            raise ValueError(f"{slots} results, {table.nbytes} bytes of jobs: too much at once")
        steps, buffers = work.steps(self._table)
        used = self._slots.view(0, slots * FIELDS * 8)
        try:
            if slots:
                self._session.fill(used, 0)
            self._session.write(self._table.view(0, table.nbytes), table)
            self._session.run(_plan(steps), buffers, deadline_s=DEADLINE_S)
            if not slots:
                return []
            raw = self._session.read(used, np.dtype(np.uint64), (slots, FIELDS))
        except Rejected as rejected:
            raise DeviceFault(f"the harness's own kernels failed: {rejected}") from rejected
        reals = raw.view(np.float64)
        return [
            Found(
                error=float(real[0]),
                wrong=int(word[1]),
                changed=int(word[2]),
                beyond=float(real[3]),
                ulps=float(real[4]),
            )
            for word, real in zip(raw, reals, strict=True)
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
