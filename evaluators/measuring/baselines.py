"""A kernel beside its task's baselines in sittings, and what these say of each."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from evaluators.device import Compiled, uncompiled
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Beside, Rejected, Status, Verdict
from evaluators.kernel.baseline import PlannedBaseline
from evaluators.kernel.source import KernelSource
from evaluators.measuring.intervals import Blocks, Sittings, Spread
from evaluators.measuring.policy import BaselineAnchor
from evaluators.measuring.race import AnchorFailed
from evaluators.measuring.sittings import Sitting, verdict_of
from evaluators.tasks.baselines import Baseline
from evaluators.weights import Weights


def anchor_of(baseline: Baseline, info: DeviceInfo) -> BaselineAnchor:
    """Of any kind but a kernel, which is compiled first."""
    return BaselineAnchor(
        name=baseline.name,
        kernel_id=baseline.id,
        kernel=PlannedBaseline(baseline),
        compiled=uncompiled(baseline, info),
    )


def anchor_of_kernel(
    baseline: Baseline, kernel: KernelSource, compiled: Compiled
) -> BaselineAnchor:
    return BaselineAnchor(name=baseline.name, kernel_id=kernel.id, kernel=kernel, compiled=compiled)


@runtime_checkable
class RacesBaselines(Protocol):
    """What is used of an evaluator beside what sit() uses; see measuring.evaluator.Evaluator."""

    def fit(self, baseline: BaselineAnchor) -> Verdict: ...

    def beside(
        self, kernel: KernelSource, compiled: Compiled, baseline: BaselineAnchor
    ) -> Blocks: ...


def sit_beside(
    evaluator: object,
    kernel: KernelSource,
    compiled: Compiled,
    baselines: Sequence[BaselineAnchor],
    held: Sitting,
) -> Sitting:
    """The sitting with baselines raced too, each checked first, as it was nowhere before.

    evaluator: that of the sitting. Raises what broken infrastructure does.
    """
    if not baselines or not held.verdict.passed or not isinstance(evaluator, RacesBaselines):
        return held
    began = time.monotonic()
    blocks, failed = dict(held.blocks), dict(held.failed)
    verdict = held.verdict
    for one in baselines:
        fit = evaluator.fit(one)
        if not fit.passed:
            failed[one.kernel_id] = fit
            continue
        try:
            blocks[one.kernel_id] = evaluator.beside(kernel, compiled, one)
        except AnchorFailed as error:
            failed[one.kernel_id] = verdict_of(error.rejected)
        except Rejected as rejected:
            verdict = verdict_of(rejected)
            break
    seconds = held.seconds + time.monotonic() - began
    return replace(held, blocks=blocks, failed=failed, verdict=verdict, seconds=seconds)


def refusal(verdict: Verdict) -> str:
    """ "was not measured: torch is not installed here"."""
    if verdict.status is Status.UNSUPPORTED:
        return f"was not measured: {verdict.reason}"
    return f"was refused: {verdict.reason}"


def besides(
    held: Sequence[Sitting], rivals: Mapping[str, str], spread: Spread, weights: Weights
) -> dict[str, Beside]:
    """By name. rivals: the baselines' names by the ids under which they sat."""
    found: dict[str, Beside] = {}
    for rival_id, name in rivals.items():
        failed = next((one.failed[rival_id] for one in held if rival_id in one.failed), None)
        blocks = [one.blocks[rival_id] for one in held if rival_id in one.blocks]
        if failed is not None:  # though it was right in other sittings
            found[name] = Beside(refused=refusal(failed))
        elif blocks:
            made = Sittings(blocks, spread, weights)
            found[name] = Beside(ratio=made.ratio(0.95, later=True), gains=made.means())
    return found
