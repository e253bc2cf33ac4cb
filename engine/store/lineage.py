"""How a kernel came about: the steps from a seed to it, as text and as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.store.events import Drafted
from engine.store.ratios import standing
from engine.store.replay import Replay
from evaluators.device_info import known_backends
from evaluators.evaluation import Evaluation, Rejected
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.gain import CPU_RACE, gain, race_spread
from operators.catalog.technique import changes
from operators.llm.prompts.steps import percent
from operators.tuning.initial import family_of

TECHNIQUE_CHARACTERS = 80
PARAMS_SHOWN = 8
VARIANTS_SHOWN = 4

Params = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One kernel on the way. base: the step before it, what its gain is over; None: a seed."""

    drafted: Drafted
    evaluation: Evaluation
    base: "Step | None"

    @property
    def speedup(self) -> str:
        """See ratios.standing()."""
        return standing(self.evaluation)

    @property
    def gain(self) -> str:
        """ "+32% (+28..+36)" over the step before, paired, in the search; "" where not known."""
        if self.base is None:
            return ""
        backend = self.evaluation.device_class.partition("/")[0]
        spread = race_spread(backend) if backend in known_backends() else CPU_RACE
        found = gain(self.evaluation, self.base.evaluation, spread)
        if found and not self.evaluation.timed:
            return f"{1 / found[0]:.3g} of its cost"
        return percent(found) if found else ""

    @property
    def line(self) -> str:
        """The text, and what the step brought."""
        return f"{self.text}  {self.gain}".rstrip()

    @property
    def text(self) -> str:
        """ "register tiling: gemm_tile, TM 1 -> 4, KU = 2; where C <= 1024: TM 4 -> 8": technique
        and what it changed, also in variants by shape."""
        before, before_by_shape = _params(self.base.drafted) if self.base else ({}, {})
        after, by_shape = _params(self.drafted)
        changed = _cut(changes(before, after).split(", "), PARAMS_SHOWN)
        told = [", ".join(filter(None, (_family(self.drafted), *changed)))]
        for when, own in by_shape.items():
            was = {**after, **before_by_shape.get(when, {})}
            if change := changes(was, {**after, **own}):
                told.append(f"where {when}: {change}")
        told = _cut(list(filter(None, told)), VARIANTS_SHOWN)
        return ": ".join(filter(None, (technique(self.drafted), "; ".join(told))))


def _cut(parts: list[str], most: int) -> list[str]:
    more = len(parts) - most + 1
    return parts if len(parts) <= most else [*parts[: most - 1], f"{more} more"]


def lineage(replay: Replay, kernel_id: str) -> list[Step]:
    """From the seed to the kernel, along the Base of each step."""
    known = replay.scores.evaluations
    steps: list[Step] = []
    for drafted in reversed(replay.lineage(kernel_id)):
        if drafted.kernel_id in known:
            base = steps[-1] if steps else None
            evaluation = known[drafted.kernel_id]
            steps.append(Step(drafted=drafted, evaluation=evaluation, base=base))
    return steps


def technique(step: Drafted) -> str:
    """What made the step, in a few words, on one line."""
    name = " ".join(step.experiment.technique.split()) if step.experiment else ""
    if len(name) > TECHNIQUE_CHARACTERS:
        name = name[:TECHNIQUE_CHARACTERS].rstrip() + " ..."
    if step.origin == "experiment":
        return name or step.origin
    if step.origin in ("injected", "carried"):
        return f"{step.origin}: {step.report}"[:TECHNIQUE_CHARACTERS]
    if step.origin == "crossover" and len(step.parents) > 1:
        return f"crossover with {step.parents[1][:12]}"
    return f"{step.origin} of {name!r}" if name else step.origin


def what_made(step: Drafted) -> str:
    """ "newcomer: gemm_pack": technique, and of the catalogue's kernels the family."""
    return ": ".join(filter(None, (technique(step), _family(step))))


def _family(step: Drafted) -> str:
    """Of the catalogue's kernels."""
    if step.experiment:
        return str(step.experiment.params.get("family", ""))
    return family_of(step.report) if step.origin == "initial" else ""


def _params(step: Drafted) -> tuple[Params, Mapping[str, Params]]:
    """The kernel's parameters, and those of its variants by condition."""
    try:
        kernel = parse_kernel(step.candidate.source)
    except Rejected:  # it failed, and was repaired
        return {}, {}
    return kernel.params, {one.when.text: one.params for one in kernel.variants}


def lineage_json(replay: Replay, kernel_id: str) -> list[dict[str, Any]]:
    """One mapping a step, with the kernel's source; the seed first."""
    return [
        {
            "id": step.drafted.kernel_id,
            "parents": list(step.drafted.parents),
            "origin": step.drafted.origin,
            "technique": technique(step.drafted),
            "report": step.drafted.report,
            "island": step.drafted.island,
            "cycle": step.drafted.cycle,
            "speedup": step.evaluation.speedup,
            "ci95": step.evaluation.ci95,
            "times_us": dict(step.evaluation.times_us),
            "costs": dict(step.evaluation.costs),
            "source": step.drafted.candidate.source,
        }
        for step in lineage(replay, kernel_id)
    ]


def lineage_text(replay: Replay, kernel_id: str) -> str:
    """One line a step; the seed first."""
    steps = lineage(replay, kernel_id)
    return "".join(f"{one.speedup:>9}  {one.drafted.kernel_id}  {one.line}\n" for one in steps)
