"""Where nothing is timed kernels are checked on small shapes, and their costs are counted."""

import math
import time
from collections.abc import Mapping

from evaluators.checks.shapes import costed, split
from evaluators.device import Compiled
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Rejected, Status, failed
from evaluators.kernel.source import KernelSource
from evaluators.measuring.correctness import Correctness, workloads_of
from evaluators.measuring.counting import Counted
from evaluators.measuring.kills import despite_kills
from evaluators.measuring.policy import Anchor
from evaluators.measuring.race import blaming_anchor
from evaluators.tasks.task import Task
from evaluators.weights import weights_of


class Untimed:
    """Of an Evaluator whose device is not timed (see DeviceInfo.timed)."""

    def __init__(self, task: Task, info: DeviceInfo, correctness: Correctness) -> None:
        self._task, self._info, self._correctness = task, info, correctness
        self._counter = correctness.counter()
        self._costs: dict[str, Mapping[str, float]] = {}  # by anchor id, then label

    def checked(
        self, kernel: KernelSource, compiled: Compiled, anchor: Anchor | None
    ) -> Evaluation:
        """Check, and count beside the anchor, which is the naive seed; None: the kernel is.

        Raises AnchorFailed; never Rejected.
        """
        shapes = workloads_of(self._task, ("tests", "benchmarks"), self._info.backend)
        left_out = tuple(one.label for one in split(self._task, shapes).left_out)
        began = time.perf_counter()
        try:
            before = self._costs_of(anchor) if anchor is not None else {}
            errors, counted = despite_kills(lambda: self._checked(kernel, compiled))
        except Rejected as rejected:
            return self._failed(kernel, compiled, rejected, time.perf_counter() - began)
        seconds = time.perf_counter() - began
        return Evaluation(
            kernel_id=kernel.id,
            task_hash=self._task.hash,
            device_class=self._info.device_class,
            status=Status.PASSED,
            log=compiled.log,
            costs=counted.costs,
            gains=_gains(counted.costs, before or counted.costs),
            anchor_id=anchor.kernel_id if anchor is not None else None,
            errors=errors,
            advice=counted.advice,
            left_out=left_out,
            resources=compiled.resources,
            seconds={"compile": compiled.seconds, "device": seconds, "check": seconds},
            device=self._info.name,
            engine=self._info.engine,
            compiler=compiled.compiler,
            weights=weights_of(costed(self._task, self._info.backend)),
        )

    def _checked(
        self, kernel: KernelSource, compiled: Compiled
    ) -> tuple[dict[str, float], Counted]:
        """Errors by "label/output", and what was executed. Raises Rejected."""
        shapes = workloads_of(self._task, ("tests", "benchmarks"), self._info.backend)
        small = split(self._task, shapes).run
        with self._correctness.telling_races(kernel):
            errors = self._correctness.check(kernel, compiled, small, {})[0] if small else {}
            counted = self._counter.count(kernel, compiled)
        return {**errors, **counted.errors}, counted

    def _costs_of(self, anchor: Anchor) -> Mapping[str, float]:
        """By label; counted once."""
        if anchor.kernel_id not in self._costs:
            with blaming_anchor():
                counted = self._counter.count(anchor.kernel, anchor.compiled)
            self._costs[anchor.kernel_id] = counted.costs
        return self._costs[anchor.kernel_id]

    def _failed(
        self, kernel: KernelSource, compiled: Compiled, rejected: Rejected, seconds: float
    ) -> Evaluation:
        return failed(
            kernel.id,
            self._task.hash,
            self._info.device_class,
            rejected,
            info=self._info,
            seconds={"compile": compiled.seconds, "device": seconds},
        )


def _gains(costs: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """ln(cost before / cost) by label; a kernel that executes nothing that costs has no bound."""
    least = 1e-9
    return {
        label: math.log(max(before[label], least) / max(one, least))
        for label, one in costs.items()
        if label in before
    }
