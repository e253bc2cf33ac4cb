"""The harness's own kernels on a GPU, loaded and run in batches, and what else is trusted there.

The harness shares a GPU's memory with the kernels that it judges. So nothing lies there while one
runs that could be of use to it. Inputs have no copies: they are drawn again from a key, and
compared. References are masked and have a keyed checksum; keys and addresses of jobs are written
just before the harness's own kernels run, and wiped with the results just after. Unmapping the
references meanwhile (cuMemUnmap) takes 33 us for 2 MiB and 78 us for 512 MiB, for each draw and
timed call, and waits for the device; wiping all jobs takes 4 us (H100). Masks and checksums hold
against what reads or writes the memory at any time, and both vendors have them.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluators.checks.gpu_work import FIELDS, JOB_BYTES, Work, entries_for, launch
from evaluators.device import Compiled, Compiler, Device
from evaluators.device_info import BackendMissing, DeviceFault, target_of
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Plan, Step
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.task import Task

FOLDER = Path(__file__).parents[1] / "include" / "harness"
PARTS = ("harness", "words", "draw", "compare")
DEADLINE_S = 20.0
_SLOTS = 1024
_MOST_JOBS = 8192
PROBED = "float32"
"""Compared by probe()."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """What runs on a GPU and is believed. naive: the task's seed. reference: its reference.hip, if
    it has one. empty: a kernel that does nothing, by which launching is timed."""

    harness: Compiled
    naive: tuple[KernelSource, Compiled] | None = None
    reference: tuple[KernelSource, Compiled] | None = None
    empty: Compiled | None = None


def harness_source() -> KernelSource:
    """The harness's own kernels: the parts in their folder, as one."""
    return parse_kernel("\n".join((FOLDER / f"{part}.hip").read_text() for part in PARTS))


def compile_trusted(
    task: Task, compiler: Compiler, backend: str, *, every: Collection[str] | None = None
) -> Trusted:
    """every: dtypes that are compared, by default those of the task's outputs.

    Raises TaskError (its reference.hip does not compile) and BackendMissing. No task and no device
    is to blame when the harness's own kernels do not compile.
    """
    dtypes = {one.dtype for output in task.outputs for one in (output, *output.each.values())}
    entries = entries_for({*dtypes, PROBED} if every is None else every)
    steps = tuple(launch(entry, 1, 1) for entry in entries)
    try:
        harness = compiler.compile(harness_source(), [_plan(steps)])
    except Rejected as rejected:
        if rejected.status is Status.UNSUPPORTED:  # by a compiler that is for inspection only
            raise BackendMissing(f"{backend}: {rejected.reason}") from rejected
        raise BackendMissing(
            f"the harness's own kernels do not compile for {backend} ({rejected}): "
            "its compiler or headers are not whole, see 'kernel-scientist doctor'; if they are, "
            "this is a bug: report it"
        ) from rejected
    path = task.folder / "reference.hip"
    if not path.is_file():
        return Trusted(harness=harness)
    if task.own.epilogue is not None:
        raise TaskError(f"{path}: a task with an epilogue() takes reference.py only; remove it")
    try:
        kernel = parse_kernel(path.read_text())
        plans = [
            kernel.plan(task, w, target_of(backend))
            for suite in task.suites
            for w in task.workloads(suite, backend)
        ]
        compiled = compiler.compile(kernel, plans)
    except Rejected as rejected:
        raise TaskError(f"{path}: {rejected}") from None
    if any(plan.prepare for plan in plans):
        raise TaskError(f"{path}: a reference takes no prepare launches")
    return Trusted(harness=harness, reference=(kernel, compiled))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """error: the largest, as checks.compare scales it. wrong: elements beyond tolerance.
    changed: elements that are not as they were drawn. checksum: of masked references. beyond,
    ulps: sums of squares, see budget.Error's rms and ulp."""

    error: float
    wrong: int
    changed: int
    checksum: int
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
        slots_bytes, table_bytes = _SLOTS * FIELDS * 8, _MOST_JOBS * JOB_BYTES
        self._session = device.open(trusted.harness, memory_bytes=slots_bytes + table_bytes)
        self._slots = self._session.alloc(slots_bytes)
        self._table = self._session.alloc(table_bytes)

    def work(self) -> Work:
        return Work(self._slots)

    def run(self, work: Work, slots: int = 0) -> list[Found]:
        """Do it all; what the first so many slots hold then. Leaves nothing in memory."""
        table = np.frombuffer(work.table(), np.uint8)
        if slots > _SLOTS or table.nbytes > self._table.nbytes:
            raise ValueError(f"{slots} results, {table.nbytes} bytes of jobs: too much at once")
        steps, buffers = work.steps(self._table)
        used = self._slots.view(0, slots * FIELDS * 8)
        try:
            self._session.fill(self._slots, 0)  # other kernels may have written there
            self._session.write(self._table.view(0, table.nbytes), table)
            self._session.run(_plan(steps), buffers, deadline_s=DEADLINE_S)
            raw = self._session.read(used, np.dtype(np.uint64), (slots, FIELDS))
            self._session.fill(self._table, 0)
            self._session.fill(self._slots, 0)
        except Rejected as rejected:
            raise DeviceFault(f"the harness's own kernels failed: {rejected}") from rejected
        return [
            Found(
                error=float(real[0]),
                wrong=int(word[1]),
                changed=int(word[2]),
                checksum=int(word[3]),
                beyond=float(real[4]),
                ulps=float(real[5]),
            )
            for word, real in zip(raw, raw.view(np.float64), strict=True)
        ]

    def close(self) -> None:
        self._session.close()


def probe(harness: Harness, device: Device, trusted: Trusted) -> None:
    """A known answer from a known question. Raises DeviceFault."""
    values = np.arange(1000, dtype=np.float32)
    expected = values.astype(np.float64)
    expected[[3, 500, 999]] += 2.0
    with device.open(trusted.harness, memory_bytes=1 << 20) as session:
        try:
            out, reference = (session.alloc(n) for n in (4000, 8000))
            session.write(out, values)
            session.write(reference, expected)
        except Rejected as rejected:
            raise DeviceFault(f"a device that should be idle has no memory: {rejected}") from None
        work = harness.work()
        work.mask(reference, 12345, slot=1)
        work.compare(out, reference, dtype=PROBED, key=12345, rtol=0.0, atol=0.5, slot=0)
        found, masked = harness.run(work, 2)
    same = found.checksum == masked.checksum
    if (found.error, found.wrong, found.changed, same) != (4.0, 3, 0, True):
        raise DeviceFault(f"the device computes wrongly: a known comparison gave {found}")
