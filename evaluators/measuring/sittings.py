"""Sittings: a kernel against its rivals in new processes on new inputs, and what several say."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from evaluators.device import Compiled, backend
from evaluators.evaluation import Evaluation, Rejected, Status, Verdict
from evaluators.kernel.source import KernelSource
from evaluators.measuring.intervals import Blocks, Spread
from evaluators.measuring.policy import Anchor, TimingPolicy, policy_of
from evaluators.measuring.race import AnchorFailed
from evaluators.sandbox.kept_waiting import Pressure
from evaluators.tasks.arguments import Suite

CPU_SPREAD = Spread(sitting=0.015, distance=0.005, run=0.8)
GPU_SPREAD = Spread(sitting=0.003, distance=0.002, run=0.8)
"""On cpu by docs/measured/sittings_cpu.json, less what other work added there; on GPUs not yet
measured across processes: a block against itself is exact to 0.2% on an H200."""

BLOCKS, SECONDS = 10, 1.5
"""Paired blocks a shape in a sitting at most, and after how long fewer do: what differs between
sittings is more than what further blocks would tell."""

LEAST, MOST = 3, 6
"""Sittings of a final measurement: however long one takes, and however short. Beyond, what
differs between runs is more than what further ones would tell."""

BUSY = 0.2
"""A machine that keeps some process waiting for so much of the time is busy."""

ELSEWHERE = (
    "it is right on every benchmark shape and fails on a held-out shape, of which no more is told: "
    "make it right, and as exact as the naive seed, for every size"
)


class Judges(Protocol):
    """What is used of an evaluator; see evaluators.measuring.evaluator.Evaluator."""

    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation: ...

    def verify(self, kernel: KernelSource, compiled: Compiled, suite: Suite) -> Verdict: ...

    def watch(self, kernel: KernelSource) -> Verdict: ...

    def link(
        self, kernel: KernelSource, compiled: Compiled, anchor: Anchor
    ) -> Mapping[str, tuple[float, ...]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """What became of a kernel in one sitting.

    blocks: paired ln(rival's time / kernel's time) by rival's kernel id, then workload label.
    verdict: whether it was right wherever it was looked at. failed: rivals that failed, though
    they had passed before. pressure: see Pressure.share().
    """

    blocks: Mapping[str, Blocks]
    verdict: Verdict
    seconds: float
    failed: Mapping[str, Verdict] = field(default_factory=dict)
    pressure: float = 0.0


def sit(
    evaluator: Judges,
    kernel: KernelSource,
    compiled: Compiled,
    rivals: Sequence[Anchor],
    *,
    check: bool,
) -> Sitting:
    """Race a kernel against each rival in turn. The evaluator is one that was opened for it.

    check: on tests, benchmarks and held-out shapes first, for races too. Raises what broken
    infrastructure does.
    """
    began, pressure = time.monotonic(), Pressure()
    blocks: dict[str, Blocks] = {}
    failed: dict[str, Verdict] = {}
    verdict = Verdict(status=Status.PASSED)
    try:
        for rival in rivals:
            try:
                blocks[rival.kernel_id] = _raced(
                    evaluator, kernel, compiled, rival, check=check and not blocks
                )
            except AnchorFailed as error:
                failed[rival.kernel_id] = verdict_of(error.rejected)
        if check:
            verdict = watched(evaluator, kernel, compiled)
    except Rejected as rejected:
        verdict = verdict_of(rejected)
    return Sitting(
        blocks=blocks,
        verdict=verdict,
        seconds=time.monotonic() - began,
        failed=failed,
        pressure=pressure.share(),
    )


def _raced(
    evaluator: Judges, kernel: KernelSource, compiled: Compiled, rival: Anchor, *, check: bool
) -> Blocks:
    """Raises Rejected: the kernel is wrong; AnchorFailed: the rival is."""
    if not check:
        return evaluator.link(kernel, compiled, rival)
    made = evaluator.measure(kernel, compiled, rival)
    if not made.passed:
        raise Rejected(made.status, made.reason, log=made.log)
    return made.blocks


def verdict_of(rejected: Rejected) -> Verdict:
    return Verdict(status=rejected.status, reason=rejected.reason, log=rejected.log)


def elsewhere(evaluator: Judges, kernel: KernelSource, compiled: Compiled) -> Verdict:
    """On the held-out shapes; what fails there is told without sizes and values."""
    verdict = evaluator.verify(kernel, compiled, "held_out")
    if verdict.passed:
        return verdict
    return Verdict(status=verdict.status, reason=ELSEWHERE)


def watched(evaluator: Judges, kernel: KernelSource, compiled: Compiled) -> Verdict:
    """On the held-out shapes, then for races on every shape, whether it is ahead or not."""
    verdict = elsewhere(evaluator, kernel, compiled)
    return evaluator.watch(kernel) if verdict.passed else verdict


def brief(backend_name: str, policy: TimingPolicy | None) -> TimingPolicy:
    """How a sitting times and checks, on all shapes, where a campaign's policy is as given.

    Raises BackendMissing.
    """
    usual = policy or policy_of(backend_name)
    seconds = min(SECONDS, usual.link_budget_s)
    return replace(usual, link_blocks=BLOCKS, link_budget_s=seconds, shapes=None, thorough=True)


def spread_of(backend_name: str) -> Spread:
    """How sittings on a backend's devices differ. Raises BackendMissing."""
    return GPU_SPREAD if backend(backend_name).private_process else CPU_SPREAD


def busy_text(pressures: Sequence[float]) -> str:
    """A sentence where the machine was busy while sittings were held; else empty."""
    share = max(pressures, default=0.0)
    if share < BUSY:
        return ""
    return (
        f"the machine was busy: in up to {100 * share:.0f}% of the time of a sitting some process "
        "waited for a core, so measure again when it is quiet"
    )


def meaning(sittings: int) -> str:
    """What a figure and its interval mean, for a person. sittings: 0 for one race alone."""
    if not sittings:
        return "from one race with the naive seed, not measured again"
    return (
        f"timed against the naive seed itself in {sittings} sittings of new processes on new "
        "inputs; the 95% interval is to hold a later measurement on such a device too"
    )
