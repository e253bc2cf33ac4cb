"""A workbench whose devices are noisy: how fast a kernel truly is, and what its measuring adds."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

import numpy as np

from engine.dispatch.workbench import Blocks
from evaluators.device import Compiled
from evaluators.evaluation import Evaluation, Status, Verdict
from evaluators.kernel.source import KernelSource, kernel_id
from evaluators.measuring.intervals import gains, speedup
from evaluators.measuring.policy import Anchor
from evaluators.tasks.arguments import Suite
from evaluators.tasks.task_file import load_task
from evaluators.weights import EQUAL
from scripts.bench_engine import InstantEvaluator, InstantWorkbench

NAIVE_ID = kernel_id(load_task("sgemm").naive)

LUCK = np.random.default_rng(20251122)
"""Of every measurement in this process."""

SESSION_SD, BLOCK_SD = 0.02, 0.01
"""Of ln times: what all blocks of one session share, and what each adds."""


KINDS = 8
SEED = -1
"""The naive seed's kind."""


def kind_of(kernel_id: str) -> int:
    """One of KINDS, for every kernel but the seed."""
    return SEED if kernel_id == NAIVE_ID else int(kernel_id[:8], 16) % KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyWorkbench(InstantWorkbench):
    """Knows a kernel by its kind, see kind_of().

    gains: ln(seed's time / kernel's time), by kind, 0 for those that it does not name.
    lucky: what the search's own measurement of a kernel adds to it, by kind.
    wrong: the kinds that are right on every shape but the held-out ones.
    """

    gains: Mapping[int, float]
    lucky: Mapping[int, float]
    wrong: frozenset[int]

    def open(self, device: int) -> "AbstractContextManager[InstantEvaluator]":
        return nullcontext(NoisyEvaluator(workbench=self))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyEvaluator(InstantEvaluator):
    """See NoisyWorkbench."""

    workbench: NoisyWorkbench

    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation:
        made = InstantEvaluator.measure(self, kernel, compiled, anchor, best)
        if anchor is None:
            return made
        bench = self.workbench
        # The search gives the early stop's bounds; what measures afresh has none.
        lucky = bench.lucky.get(kind_of(kernel.id), 0.0) if best is not None else 0.0
        blocks = self._noisy(kernel, anchor, 4, lucky)
        estimate, *ci95 = speedup(blocks, anchor.links, 0.95, weights=EQUAL)
        _, *ci99 = speedup(blocks, anchor.links, 0.99, weights=EQUAL)
        return replace(
            made,
            blocks=blocks,
            gains=gains(blocks, anchor.links, made.times_us),
            speedup=estimate,
            ci95=(ci95[0], ci95[1]),
            ci99=(ci99[0], ci99[1]),
        )

    def link(self, kernel: KernelSource, compiled: Compiled, anchor: Anchor) -> Blocks:
        return self._noisy(kernel, anchor, 12, 0.0)

    def verify(self, kernel: KernelSource, compiled: Compiled, suite: Suite) -> Verdict:
        if kind_of(kernel.id) in self.workbench.wrong:
            reason = "y[0] is 0, expected 2 on M=77 N=515 K=301"
            return Verdict(status=Status.WRONG, reason=reason)
        return Verdict(status=Status.PASSED)

    def watch(self, kernel: KernelSource) -> Verdict:
        return Verdict(status=Status.PASSED)

    def _noisy(
        self, kernel: KernelSource, anchor: Anchor, count: int, lucky: float
    ) -> dict[str, tuple[float, ...]]:
        gains = self.workbench.gains
        session = LUCK.normal(lucky, SESSION_SD)
        mean = gains.get(kind_of(kernel.id), 0.0) - gains.get(kind_of(anchor.kernel_id), 0.0)
        return {
            label: tuple(LUCK.normal(mean + session, BLOCK_SD, count).tolist())
            for label in self.workbench.labels
        }


def noisy_workbench(
    *,
    gains: Mapping[int, float] | None = None,
    lucky: Mapping[int, float] | None = None,
    wrong: frozenset[int] = frozenset(),
) -> NoisyWorkbench:
    """For sgemm on cpu."""
    task = load_task("sgemm")
    labels = tuple(workload.label for workload in task.workloads("benchmarks", "cpu"))
    return NoisyWorkbench(
        task_hash=task.hash,
        labels=labels,
        binary_bytes=10,
        gains=gains or {},
        lucky=lucky or {},
        wrong=wrong,
    )
