"""One kernel's lane in a race: a session of its own, ready to be timed on every workload."""

from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Self

import numpy as np

from evaluators.checks.disclosure import on
from evaluators.checks.inputs import Draw
from evaluators.checks.judge import HostJudge, Judge
from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import Region
from evaluators.device import Compiled, Device, Session
from evaluators.device_info import DeviceInfo
from evaluators.kernel.baseline import Planned
from evaluators.kernel.plan import Plan
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

PREPARE_DEADLINE_S = 2.0
"""Prepare launches run before every call, and nobody counts their time."""


class Lane:
    """One kernel in a session of its own, ready to be timed on every workload.

    Each application within a call has a binding of its own: its own inputs, outputs and scratch.
    met: by label, the indices of the draws that the kernel has run on here.
    """

    def __init__(
        self,
        device: Device,
        task: Task,
        workloads: Sequence[Workload],
        kernel: Planned,
        compiled: Compiled,
        policy: TimingPolicy,
        *,
        wanted: Mapping[str, int] | None = None,
        beside: "Lane | None" = None,
        judge: Judge | None = None,
    ) -> None:
        """wanted: applications a call by label, where they are known; by default as many as
        memory allows. beside: the lane to race against. Both see the same bytes, where the
        device can in the same memory; what is shared by bindings, and scratch, is never the
        same. judge: by default the other lane's, or a new one of the host.
        """
        self._policy = policy
        self._judge: Judge = judge or (beside._judge if beside is not None else HostJudge())
        rotates = device.info.judges_on_device
        self._sweep_bytes = 2 * device.info.cache_bytes if rotates else 0
        self.met: dict[str, set[int]] = {w.label: set() for w in workloads}
        self._left: dict[str, dict[int, int]] = {w.label: {} for w in workloads}
        self._sharing: list[Lane] = beside._sharing if beside is not None else []
        self._sharing.append(self)
        plans = {w.label: kernel.plan(task, w, device.info.target) for w in workloads}
        self._copies_bytes: list[int] = (
            beside._copies_bytes
            if beside is not None
            else [
                _copies_bytes(task, w, policy, device.info, wanted or {}, len(workloads))
                for w in workloads
            ]
        )
        room = policy.room(device.info, len(workloads))
        self._own_bytes = [
            nbytes
            for w, copies in zip(workloads, self._copies_bytes, strict=True)
            for nbytes in _own_bytes(task, w, plans[w.label], room, copies)
        ]
        skipped = beside._own_bytes if beside is not None else []
        sizes = [*self._copies_bytes, *skipped, *self._own_bytes]
        self.session: Session = device.open(
            compiled,
            memory_bytes=sum(sizes),
            beside=beside.session if beside is not None else None,
        )
        try:
            buffers = [self.session.alloc(nbytes) for nbytes in sizes]
        except BaseException:
            self.session.close()
            raise
        own = iter(buffers[len(workloads) + len(skipped) :])
        self.memories = {
            w.label: WorkloadMemory(
                self.session,
                task,
                w,
                plans[w.label],
                copies=copies,
                shared=next(own),
                scratch=next(own),
            )
            for w, copies in zip(workloads, buffers, strict=False)
        }

    def applications(self, label: str, wanted: int) -> int:
        """As wanted, as far as each has a binding, and a call may hold so many launches."""
        memory = self.memories[label]
        most = self._policy.max_launches // len(memory.plan.steps)
        return max(1, min(wanted, most, len(memory.bindings)))

    def prefetch(self, label: str, draws: Sequence[Draw]) -> None:
        """See Judge."""
        self._judge.prefetch(self.memories[label], draws)

    def call(
        self,
        label: str,
        applications: int,
        draws: Sequence[Draw],
        rng: np.random.Generator,
        *,
        deadline_s: float,
        in_full: bool = False,
    ) -> float:
        """Microseconds an application, each on a draw of its own, judged after all have run.

        draws: in the order in which the bindings get them, but for some that are left out; over
        and over where they are fewer.
        in_full: judge every element, and not only what the policy asks for.
        Raises Rejected: WRONG, or what the run met.
        """
        memory = self.memories[label]
        if applications > len(memory.bindings):
            raise ValueError(f"{applications} applications on {len(memory.bindings)} bindings")
        stale = self._stale(label, applications, draws, rng)
        usable = [draw for draw in draws if draw.index not in self._lying(label, stale)]
        placed = {copy: usable[copy % len(usable)] for copy in range(applications)}
        with on(memory.workload):
            self._renew(memory, placed, rng, stale)
            time_us = memory.session.time(
                memory.plan, memory.bindings[:applications], deadline_s=deadline_s
            )
            nbytes = applications * memory.region.nbytes if in_full else self._policy.verify_bytes
            self._verify(memory, placed, rng, max(1, nbytes // memory.region.nbytes))
        self._left[label].update({copy: draw.index for copy, draw in placed.items()})
        return time_us / applications

    def _renew(
        self,
        memory: WorkloadMemory,
        placed: Mapping[int, Draw],
        rng: np.random.Generator,
        stale: Collection[int],
    ) -> None:
        """New data in every binding, and nothing else left of earlier calls."""
        label, draws = memory.workload.label, [*placed.values()]
        if memory.plan.prepare or not self.met[label]:
            self._judge.place_shared(memory, draws[0], rng)
            memory.prepare(deadline_s=min(PREPARE_DEADLINE_S, self._policy.deadline_cap_s))
        if not memory.plan.prepare:  # which prepare() sees to
            memory.session.forget()
        self.met[label].update(draw.index for draw in draws)
        self._wipe(memory, placed)
        # Those that a short call does not use come last, and sweep the others from the cache, so
        # that it finds what it would find in a rotation over all of them.
        beyond = min(len(memory.copies), -(-self._sweep_bytes // memory.region.nbytes))
        swept = {copy: draws[copy % len(draws)] for copy in range(len(placed), beyond)}
        self._judge.place(memory, {**placed, **swept}, rng, stale=stale)

    def _wipe(self, memory: WorkloadMemory, placed: Mapping[int, Draw]) -> None:
        """Results that lie where the call has no binding, of a draw that it runs on."""
        label, draws = memory.workload.label, {draw.index for draw in placed.values()}
        unused = {copy for lane in self._sharing for copy in lane._left[label]} - {*placed}
        for copy in unused:
            if draws & self._lying(label, [copy]):
                memory.wipe(copy)
                for lane in self._sharing:
                    lane._left[label].pop(copy, None)

    def _stale(
        self, label: str, applications: int, draws: Sequence[Draw], rng: np.random.Generator
    ) -> set[int]:
        """Bindings, up to half of them, whose outputs are left as an earlier call made them.

        What they hold can't be told from results of this call, and is of no use in it: their
        draws are left out, as far as the others are enough for every binding.
        """
        chosen: set[int] = set()
        for copy in rng.permutation(applications)[: -(-applications // 2)]:
            more = chosen | {int(copy)}
            usable = {draw.index for draw in draws} - self._lying(label, more)
            enough = max(1, min(applications, len(draws) - 1))
            if copy in self._left[label] and len(usable) >= enough:
                chosen = more
        return chosen

    def _lying(self, label: str, copies: Collection[int]) -> set[int]:
        """The draws whose results lie in bindings, whichever lane ran there last."""
        left = [lane._left[label] for lane in self._sharing]
        return {there[copy] for there in left for copy in copies if copy in there}

    def _verify(
        self,
        memory: WorkloadMemory,
        placed: Mapping[int, Draw],
        rng: np.random.Generator,
        most: int,
    ) -> None:
        """So many bindings in full, the others by elements that nobody could foresee."""
        self._judge.inspect_shared(memory, scratches=placed)
        order = [int(copy) for copy in rng.permutation(len(placed))]
        self._judge.judge(memory, {copy: placed[copy] for copy in order[:most]})
        if order[most:]:
            self._judge.spot_check(memory, {copy: placed[copy] for copy in order[most:]}, rng)

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


def _copies_bytes(
    task: Task,
    workload: Workload,
    policy: TimingPolicy,
    info: DeviceInfo,
    wanted: Mapping[str, int],
    shapes: int,
) -> int:
    """The arguments of all bindings."""
    nbytes = Region.of_arguments(task, workload).nbytes
    applications = wanted.get(workload.label, policy.max_copies)
    return nbytes * policy.copies_of(nbytes, info, applications, shapes)


def _own_bytes(
    task: Task, workload: Workload, plan: Plan, room: int, copies_bytes: int
) -> tuple[int, int]:
    """What the bindings share, and the scratch of all of them, or of as many as fit the room."""
    shared, scratch = Region.of_shared(task, workload, plan), Region.of_scratch(plan)
    copies = copies_bytes // Region.of_arguments(task, workload).nbytes
    fitting = max(1, min(copies, room // scratch.nbytes))
    return shared.nbytes, fitting * scratch.nbytes if scratch.spans else 0
