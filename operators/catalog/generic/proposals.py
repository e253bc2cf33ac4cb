"""Which generic edits to try on a kernel: those not yet tried, by what edits like them brought."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task import Task
from operators.catalog.generic.edit import Edit, GenericTechnique
from operators.catalog.generic.techniques import BY_NAME, GENERIC, edits
from operators.catalog.technique import Range
from operators.individual import Candidate, Experiment, Individual
from operators.operator import Context, Declined, Draft

MOST_CHARACTERS = 24_000
"""Of a kernel that is edited further."""

SCATTER = 0.35
"""How far gains of one technique lie apart, in ln: a standard deviation."""

PASSES, TRIES = 1.5, 2.0
"""Edits of a technique that are believed to have passed beforehand, of how many."""

STEPS = (1, 2, 3, 4)
"""Edits of a random walk."""

DRAWN = 200
"""Tries to find an edit that leads to a new kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What became of a technique's edits. gains: ln(speed after / before) of those that passed."""

    gains: tuple[float, ...] = ()
    failed: int = 0

    @property
    def success(self) -> float:
        """The chance of an edit to pass."""
        passed = len(self.gains)
        return (passed + PASSES) / (passed + self.failed + TRIES)

    def corrected(self, expected: Range) -> Range:
        """The expected uplift in percent, by what was measured: ln(gain) is normal, the table its
        prior, and each measurement counts by SCATTER."""
        low, high = (math.log1p(percent / 100) for percent in expected)
        centre, half = (low + high) / 2, max(0.02, (high - low) / 2)
        precision = half**-2 + len(self.gains) / SCATTER**2
        if self.gains:
            centre = (centre * half**-2 + sum(self.gains) / SCATTER**2) / precision
            half = max(precision**-0.5, SCATTER / 2)
        return round(100 * math.expm1(centre - half), 1), round(100 * math.expm1(centre + half), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One experiment; success: its chance to pass."""

    experiment: Experiment
    success: float


class GenericEdits:
    """Of one task on one kind of device."""

    def __init__(self, task: Task, device: DeviceInfo) -> None:
        self._task = task
        self._on_cpu = not device.judges_on_device

    def usual(self, technique: GenericTechnique) -> Range | None:
        return technique.cpu if self._on_cpu else technique.gpu

    def proposals(
        self,
        base: Individual,
        individuals: Iterable[Individual],
        known: Collection[str],
        rng: np.random.Generator,
    ) -> list[Proposal]:
        """One edit of each technique that has an untried one. known: ids of kernels that are no
        news."""
        found = []
        told = records(individuals)
        for technique in GENERIC:
            expected = self.usual(technique)
            fresh = self._fresh(technique, base.candidate.source, known) if expected else []
            if expected is None or not fresh:
                continue
            edit = fresh[int(rng.integers(len(fresh)))]
            record = told.get(technique.name, Record())
            found.append(
                Proposal(
                    experiment=experiment_of(technique, edit, record.corrected(expected)),
                    success=record.success,
                )
            )
        return found

    def write(self, base: str, experiment: Experiment) -> Draft:
        """The experiment's edit, of this text. Raises Declined: it has no place there."""
        technique = BY_NAME.get(str(experiment.params.get("technique")))
        place = dict(experiment.params.get("place", {}))
        found = edits(technique, base, self._task) if technique else ()
        edit = next((one for one in found if dict(one.place) == place), None)
        if technique is None or edit is None:
            raise Declined(f"{experiment.technique} finds no such place in this kernel")
        return draft_of(technique, edit)

    def mutated(self, base: str, known: Collection[str], rng: np.random.Generator) -> Draft:
        """Any untried edit. Raises Declined."""
        techniques = [one for one in GENERIC if self.usual(one) is not None]
        for place in rng.permutation(len(techniques)):
            fresh = self._fresh(techniques[place], base, known)
            if fresh:
                return draft_of(techniques[place], fresh[int(rng.integers(len(fresh)))])
        raise Declined("every generic edit of the kernel was tried, or none has a place")

    def transplanted(
        self, first: str, second: Sequence[Experiment], known: Collection[str]
    ) -> Draft:
        """The first kernel with edits of another's line, as far as they have a place. Raises
        Declined."""
        text, told = first, []
        for experiment in second:
            technique = BY_NAME.get(str(experiment.params.get("technique")))
            if technique is None:
                continue
            edit = self._like(technique, text, experiment.params.get("place", {}))
            if edit is not None and len(edit.text) <= MOST_CHARACTERS:
                text = edit.text
                told.append(technique.name)
        if not told or kernel_id(text) in known:
            raise Declined("no edit of the second parent's line leads to a new kernel")
        report = f"crossover: {', '.join(told)} of the other parent"
        return Draft(candidate=Candidate.from_source(text), report=report)

    def _like(
        self, technique: GenericTechnique, text: str, place: Mapping[str, object]
    ) -> Edit | None:
        found = edits(technique, text, self._task)
        same = [one for one in found if dict(one.place) == dict(place)]
        return next(iter(same or found), None)

    def walk(self, text: str, rng: np.random.Generator) -> tuple[str, list[str]]:
        """A random walk: the text that it ends at, and its techniques."""
        told: list[str] = []
        for _ in range(int(rng.choice(STEPS))):
            try:
                draft = self.mutated(text, (), rng)
            except Declined:
                break
            text = draft.candidate.source
            told.append(draft.report)
        return text, told

    def _fresh(self, technique: GenericTechnique, text: str, known: Collection[str]) -> list[Edit]:
        if len(text) > MOST_CHARACTERS:
            return []
        found = edits(technique, text, self._task)
        return [one for one in found if kernel_id(one.text) not in known]


def known_ids(context: Context) -> set[str]:
    """Of all kernels that an operator is told of, whatever became of them."""
    waiting = {kernel_id(one.source) for one in context.pending}
    return {*context.individuals, *(context.tuned or {}), *waiting}


def records(individuals: Iterable[Individual]) -> dict[str, Record]:
    """By technique, of all generic experiments among them whose Base is there, too."""
    known = {one.id: one for one in individuals}
    found: dict[str, Record] = {}
    for one in known.values():
        if one.experiment is None or "place" not in one.experiment.params or not one.parents:
            continue
        name = str(one.experiment.params.get("technique"))
        record = found.get(name, Record())
        base = known.get(one.parents[0])
        if not one.evaluation.passed or not one.evaluation.over_seed:
            stopped = not one.evaluation.passed
            record = Record(gains=record.gains, failed=record.failed + stopped)
        elif base is not None:
            gain = math.log(one.evaluation.over_seed / (base.evaluation.over_seed or 1.0))
            record = Record(gains=(*record.gains, gain), failed=record.failed)
        found[name] = record
    return found


def line_of_experiments(one: Individual, known: Mapping[str, Individual]) -> list[Experiment]:
    """Generic experiments that led to it, the first first."""
    found: list[Experiment] = []
    seen: set[str] = set()
    while one.id not in seen:
        seen.add(one.id)
        if one.experiment is not None and "place" in one.experiment.params:
            found.append(one.experiment)
        if not one.parents or one.parents[0] not in known:
            break
        one = known[one.parents[0]]
    return found[::-1]


def experiment_of(technique: GenericTechnique, edit: Edit, performance: Range) -> Experiment:
    """performance: the predicted uplift in percent."""
    where = ", ".join(f"{key} {value}" for key, value in edit.place.items())
    return Experiment(
        technique=technique.name,
        description=f"{technique.avenue}{f' ({where})' if where else ''}",
        rubric=technique.rubric,
        performance=performance,
        innovation=technique.innovation,
        avenue=technique.avenue,
        params={"technique": technique.name, "place": dict(edit.place)},
    )


def draft_of(technique: GenericTechnique, edit: Edit) -> Draft:
    where = ", ".join(f"{key} {value}" for key, value in edit.place.items())
    report = f"{technique.name}{f': {where}' if where else ''}"
    return Draft(candidate=Candidate.from_source(edit.text), report=report)
