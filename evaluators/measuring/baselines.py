"""A kernel beside its task's baselines: what sittings say of each, and which is the fastest."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from evaluators.device import Compiled, uncompiled
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Beside, Rejected, Status, Verdict
from evaluators.kernel.baseline import PlannedBaseline
from evaluators.kernel.source import KernelSource
from evaluators.measuring.intervals import Blocks, Ratio, Sittings, Spread
from evaluators.measuring.policy import BaselineAnchor
from evaluators.measuring.race import AnchorFailed
from evaluators.measuring.sittings import Sitting, verdict_of
from evaluators.tasks.baselines import SEED, Baseline
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A kernel beside the fastest of its task's baselines, the naive seed among them.

    name: SEED for the naive seed. among: how many were measured, the naive seed among them.
    """

    name: str
    ratio: Ratio
    among: int

    @property
    def called(self) -> str:
        return "the naive seed" if self.name == SEED else self.name


def headline(over_seed: Ratio, baselines: Mapping[str, Beside]) -> Headline | None:
    """None where no baseline but the naive seed was measured."""
    ratios = {name: one.ratio for name, one in baselines.items() if one.ratio is not None}
    if not ratios:
        return None
    ratios[SEED] = over_seed
    name = min(ratios, key=lambda one: ratios[one][0])
    return Headline(name=name, ratio=ratios[name], among=len(ratios))


def headline_text(found: Headline, over_seed: float) -> str:
    """ "1.42x over torch (the fastest of 3 baselines), 3.10x over the naive seed"."""
    first = f"{times(found.ratio[0])} over {found.called} (the fastest of {found.among} baselines)"
    return first if found.name == SEED else f"{first}, {times(over_seed)} over the naive seed"


def times(ratio: float) -> str:
    """ "1.42x", "0.023x": two digits after the point, or as many digits."""
    return f"{ratio:.2f}x" if ratio >= 0.1 else f"{ratio:.2g}x"


def interval_text(ratio: Ratio) -> str:
    """ "95% interval 1.38 to 1.46"."""
    low, high = (times(one).removesuffix("x") for one in ratio[1:])
    return f"95% interval {low} to {high}"


def baseline_lines(over_seed: Ratio, baselines: Mapping[str, Beside]) -> Iterator[str]:
    """Of each one sentence: what it was beside, or why it was not measured; of the naive seed,
    where another was measured."""
    if headline(over_seed, baselines) is not None:
        yield (
            f"beside the naive seed it is {times(over_seed[0])} as fast "
            f"({interval_text(over_seed)})"
        )
    for name, one in baselines.items():
        if one.ratio is None:
            yield f"baseline {name} {one.refused}"
        else:
            yield (
                f"beside baseline {name} it is {times(one.ratio[0])} as fast "
                f"({interval_text(one.ratio)})"
            )
