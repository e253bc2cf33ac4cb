"""One kernel's lane in a race: a session of its own, ready to be timed on every workload."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

import numpy as np

from evaluators.checks.compare import on
from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.judge import HostJudge, Judge
from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import Region
from evaluators.device import Compiled, Device, Session
from evaluators.kernel.source import KernelSource
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task


class Lane:
    """One kernel in a session of its own, ready to be timed on every workload."""

    def __init__(
        self,
        device: Device,
        task: Task,
        workloads: Sequence[Workload],
        kernel: KernelSource,
        compiled: Compiled,
        policy: TimingPolicy,
        *,
        beside: "Lane | None" = None,
        judge: Judge | None = None,
    ) -> None:
        """beside: the lane to race against. Both see the same bytes, where the device can in
        the same memory; shared memory (scratch) is never the same. judge: by default the
        other lane's, or a new one of the host.
        """
        self._policy = policy
        inherited = beside._judge if beside is not None else HostJudge()
        self._judge: Judge = judge or inherited
        rotates = device.info.judges_on_device
        self._sweep_bytes = 2 * device.info.cache_bytes if rotates else 0
        self._inout = any(argument.role == "inout" for argument in task.arguments)
        plans = [kernel.plan(task, w.dims) for w in workloads]
        copies = []
        for w in workloads:
            region = Region.of_arguments(task, w)
            copies.append(policy.copies_of(region, device.info) * region.nbytes)
        shared = [
            Region.of_shared(task, w, p).nbytes for w, p in zip(workloads, plans, strict=True)
        ]
        beside_bytes = beside._shared_bytes if beside is not None else 0
        self._shared_bytes: int = beside_bytes + sum(shared)
        self.session: Session = device.open(
            compiled,
            memory_bytes=sum(copies) + self._shared_bytes,
            beside=beside.session if beside is not None else None,
        )
        try:
            copies_buffers = [self.session.alloc(nbytes) for nbytes in copies]
            if beside is not None:
                self.session.alloc(beside_bytes)
            self.memories = {
                w.label: WorkloadMemory(
                    self.session,
                    task,
                    w,
                    plan,
                    copies=copies_buffer,
                    shared=self.session.alloc(nbytes),
                )
                for w, plan, copies_buffer, nbytes in zip(
                    workloads, plans, copies_buffers, shared, strict=True
                )
            }
        except BaseException:
            self.session.close()
            raise
        self._placed: dict[str, list[Draw]] = {}

    def applications(self, label: str, wanted: int) -> int:
        """As wanted, as far as a call may hold so many launches, and an inout buffer has a
        pristine copy for each application.
        """
        memory = self.memories[label]
        most = self._policy.max_launches // len(memory.plan.steps)
        return max(1, min(wanted, most, len(memory.copies) if self._inout else most))

    def prepare(self, label: str, draws: Sequence[Draw], rng: np.random.Generator) -> None:
        """Fill the shared memory and every binding."""
        memory = self.memories[label]
        with on(memory.workload):
            self._judge.place_shared(memory, draws[0], rng)
            memory.prepare(deadline_s=self._policy.deadline_cap_s)
        self._placed[label] = [draws[i % len(draws)] for i in range(len(memory.copies))]
        self._judge.place(memory, dict(enumerate(self._placed[label])), rng)

    def call(
        self,
        label: str,
        applications: int,
        draws: Sequence[Draw],
        rng: np.random.Generator,
        *,
        deadline_s: float,
    ) -> float:
        """Microseconds an application, with outputs poisoned before and judged after.

        draws: the prepared ones, in the order in which the bindings should get them.
        Raises Rejected: WRONG, or what the run met.
        """
        memory = self.memories[label]
        used = min(applications, len(memory.copies))
        self._renew(label, used, draws, rng)
        bindings = [memory.bindings[i % used] for i in range(applications)]
        with on(memory.workload):
            time_us = memory.session.time(memory.plan, bindings, deadline_s=deadline_s)
            most = max(1, self._policy.verify_bytes // memory.region.nbytes)
            chosen = [int(copy) for copy in rng.permutation(used)[:most]]
            self._judge.judge(memory, {copy: self._placed[label][copy] for copy in chosen})
        return time_us / applications

    def time_once(self, label: str, *, deadline_s: float) -> float:
        """Microseconds of one application to what lies in the first binding, right or not."""
        memory = self.memories[label]
        with on(memory.workload):
            return memory.session.time(memory.plan, memory.bindings[:1], deadline_s=deadline_s)

    def place_afresh(
        self, label: str, pool: InputPool, rng: np.random.Generator, draw: Draw | None = None
    ) -> None:
        """Into the first binding: a draw made once more, by default inputs never met before."""
        self._judge.place_afresh(self.memories[label], pool, rng, draw)

    def _renew(
        self, label: str, used: int, draws: Sequence[Draw], rng: np.random.Generator
    ) -> None:
        """New data in every binding where that is cheap, else outputs poisoned again."""
        memory, placed = self.memories[label], self._placed[label]
        cheap = len(memory.copies) * memory.region.nbytes <= self._policy.refresh_bytes
        if cheap:
            placed[:used] = [draws[copy % len(draws)] for copy in range(used)]
        if cheap or self._inout:
            # Those that a single launch does not use come last, and sweep the first from the
            # cache, so that it finds what it would find in a rotation over all of them.
            beyond = min(len(placed), -(-self._sweep_bytes // memory.region.nbytes))
            chosen = placed[: max(used, beyond)]
            self._judge.place(memory, dict(enumerate(chosen)), rng)
            return
        for copy in range(used):
            for span in memory.region.spans:
                if span.written:
                    memory.session.fill(memory.bindings[copy][span.name], span.poison)

    def close(self) -> None:
        self.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
