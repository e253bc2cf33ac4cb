"""A baseline of a task in a kernel's place: what is planned for a workload, and what is opened."""

from dataclasses import dataclass
from typing import Protocol

from evaluators.device_info import Target
from evaluators.kernel.plan import LaunchStep, Plan
from evaluators.tasks.arguments import Workload
from evaluators.tasks.baselines import Baseline
from evaluators.tasks.task import Task


class Planned(Protocol):
    """What checks and races ask of a kernel, or of a baseline in its place."""

    @property
    def id(self) -> str: ...

    def plan(self, task: Task, workload: Workload, target: Target) -> Plan: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselinePlan(Plan):
    """One application of a baseline, in the place of one launch."""

    task: Task
    workload: Workload


@dataclass(frozen=True, slots=True)
class PlannedBaseline:
    """Of any kind but a kernel, which is one itself."""

    baseline: Baseline

    @property
    def id(self) -> str:
        return self.baseline.id

    def plan(self, task: Task, workload: Workload, target: Target) -> BaselinePlan:
        step = LaunchStep(entry=self.id, grid=(1, 1, 1), block=(1, 1, 1), lds_bytes=0, args=())
        return BaselinePlan(
            defines=(),
            steps=(step,),
            prepare=(),
            scratch={},
            task=task,
            workload=workload,
        )
