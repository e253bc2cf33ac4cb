"""A session's memory in which the workloads of a check take turns."""

from collections.abc import Sequence

import numpy as np

from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import ALIGNMENT, Region
from evaluators.device import Session
from evaluators.kernel.plan import Plan
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

SHIFTS = 64
"""A workload's arguments begin at a random one of so many places, ALIGNMENT bytes apart."""


class Arena:
    """Memory for one binding of any of the workloads. nbytes: what a session is to be opened for.

    plans: one a workload. smallest: the workload with the smallest arguments.
    """

    def __init__(self, task: Task, workloads: Sequence[Workload], plans: Sequence[Plan]) -> None:
        self._task = task
        pairs = list(zip(workloads, plans, strict=True))
        each = [Region.of_arguments(task, w).nbytes for w in workloads]
        self.smallest = workloads[each.index(min(each))]
        shared = max(Region.of_shared(task, w, plan).nbytes for w, plan in pairs)
        scratch = max(Region.of_scratch(plan).nbytes for plan in plans)
        self._sizes = (max(each) + SHIFTS * ALIGNMENT, shared, scratch)
        self.nbytes = sum(self._sizes)

    def in_turn(
        self,
        session: Session,
        workloads: Sequence[Workload],
        plans: Sequence[Plan],
        rng: np.random.Generator,
    ) -> list[WorkloadMemory]:
        """The memory of each workload, to be used one after the other."""
        arguments, shared, scratch = (session.alloc(nbytes) for nbytes in self._sizes)
        memories = []
        for workload, plan in zip(workloads, plans, strict=True):
            nbytes = Region.of_arguments(self._task, workload).nbytes
            place = arguments.view(int(rng.integers(SHIFTS)) * ALIGNMENT, nbytes)
            memories.append(
                WorkloadMemory(
                    session,
                    self._task,
                    workload,
                    plan,
                    copies=place,
                    shared=shared,
                    scratch=scratch,
                )
            )
        return memories
