"""Racing: a kernel's lane, and its anchor's beside it, made ready for a race."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import numpy as np

from evaluators.checks.inputs import InputPool
from evaluators.checks.judge import Judge
from evaluators.device import Compiled, Device
from evaluators.kernel.source import KernelSource
from evaluators.measuring.lane import Lane
from evaluators.measuring.policy import Rival, TimingPolicy, applications_wanted, timed_shapes
from evaluators.measuring.race import Race, blaming_anchor
from evaluators.tasks.task import Task


class Racing:
    """Of an Evaluator. anchor_us: rough times by anchor id, then label, where they are known.

    judge: makes one for each race.
    """

    def __init__(
        self,
        task: Task,
        device: Device,
        pool: InputPool,
        policy: TimingPolicy,
        rng: np.random.Generator,
        *,
        judge: Callable[[], Judge],
    ) -> None:
        self._task, self._device, self._pool = task, device, pool
        self._policy, self._rng, self._judge = policy, rng, judge
        stated = task.workloads("benchmarks", device.info.backend)
        self._benchmarks = timed_shapes(stated, policy.shapes)
        self.anchor_us: dict[str, dict[str, float]] = {}

    @contextmanager
    def race(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Rival | None,
        taken_us: Mapping[str, float],
    ) -> Iterator[Race]:
        """A race, warmed up, in sessions that the check has not seen.

        taken_us: the kernel's rough times by label, where they are known.
        """
        anchor_us = self.anchor_us.get(anchor.kernel_id, {}) if anchor is not None else {}
        times = (taken_us, anchor_us) if anchor is not None else (taken_us,)
        of = (self._device, self._task, self._benchmarks)
        with ExitStack() as stack:
            first = Lane(
                *of,
                kernel,
                compiled,
                self._policy,
                wanted=applications_wanted(times, self._policy),
                judge=self._judge(),
            )
            lanes = [stack.enter_context(first)]
            if anchor is not None:
                with blaming_anchor():
                    second = Lane(*of, anchor.kernel, anchor.compiled, self._policy, beside=first)
                lanes.append(stack.enter_context(second))
            race = Race(
                lanes,
                self._benchmarks,
                self._pool,
                self._policy,
                self._rng,
                expected_us=(taken_us, anchor_us),
            )
            race.warm_up()
            yield race
            if anchor is not None:
                self.anchor_us[anchor.kernel_id] = race.medians_us(1)
