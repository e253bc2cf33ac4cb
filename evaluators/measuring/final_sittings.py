"""Sittings that a person waits for, and what they make of an evaluation."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from evaluators.device import Compiled
from evaluators.evaluation import Beside, Evaluation, Rejected, failed
from evaluators.kernel.source import KernelSource
from evaluators.measuring.baselines import besides, sit_beside
from evaluators.measuring.intervals import Sittings, Spread
from evaluators.measuring.policy import Anchor, BaselineAnchor
from evaluators.measuring.race import AnchorFailed
from evaluators.measuring.sittings import LEAST, MOST, Judges, Sitting, busy_text, sit

Opening = Callable[[int], AbstractContextManager[Judges]]
"""Opens an evaluator for one sitting on the device of that index."""


def hold(
    opening: Opening,
    devices: int,
    kernel: KernelSource,
    compiled: Compiled,
    anchor: Anchor,
    beside: Sequence[BaselineAnchor],
    seconds: float,
) -> list[Sitting]:
    """Sittings until the seconds are spent, MOST at most, on one device after another.

    beside: baselines; one that fails sits no more.
    """
    until = time.monotonic() + seconds
    held: list[Sitting] = []
    while len(held) < LEAST or time.monotonic() < until:
        with opening(len(held) % devices) as evaluator:
            one = sit(evaluator, kernel, compiled, [anchor], check=False)
            held.append(sit_beside(evaluator, kernel, compiled, beside, one))
        failed_anchor = held[-1].failed.get(anchor.kernel_id)
        if failed_anchor is not None:
            raise AnchorFailed(Rejected(failed_anchor.status, failed_anchor.reason))
        beside = [one for one in beside if one.kernel_id not in held[-1].failed]
        if not held[-1].verdict.passed or len(held) == MOST:
            break
    return held


def settled(
    evaluation: Evaluation,
    held: Sequence[Sitting],
    anchor: Anchor,
    beside: Sequence[BaselineAnchor],
    refused: Mapping[str, Beside],
    spread: Spread,
) -> Evaluation:
    """The evaluation with the figures of its sittings; failed where the last of them did."""
    verdict = held[-1].verdict
    if not verdict.passed:
        rejected = Rejected(verdict.status, verdict.reason, log=verdict.log)
        return failed(evaluation.kernel_id, evaluation.task_hash, evaluation.device_class, rejected)
    blocks = [one.blocks[anchor.kernel_id] for one in held]
    made = Sittings(blocks, spread, evaluation.weights)
    estimate, *ci95 = made.ratio(0.95, later=True)
    _, *ci99 = made.ratio(0.99, later=True)
    rivals = {one.kernel_id: one.name for one in beside}
    return replace(
        evaluation,
        baselines={**besides(held, rivals, spread, evaluation.weights), **refused},
        speedup=estimate,
        ci95=(ci95[0], ci95[1]),
        ci99=(ci99[0], ci99[1]),
        gains=made.means(),
        sittings=made.count,
        busy=busy_text([one.pressure for one in held]),
    )
