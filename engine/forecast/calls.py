"""How many calls of models a campaign makes, by whom they speak to."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from engine.config import CampaignConfig, OperatorMix
from engine.forecast.ranges import Range
from engine.forecast.records import Course, CourseName, Record, shipped
from operators.llm.designer import MOST_PROBES
from operators.llm.question import PARTS, ROLES, Part, Role

BY_RECORDS = 1.2
"""Times as many as in earlier campaigns, or as few, however many evaluations these had."""

OTHER_KINDS = 3.0
"""The same, where islands that ask nobody take evaluations too."""

PROBING = Range(likely=0.5, low=0.0, high=1.0)
"""Probes that designers ask for over those that they may, where none was offered any before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Of a campaign that asks models. alike: earlier ones with the same operators. probes: how many
    designers may still ask for."""

    config: CampaignConfig
    alike: Sequence[Record]
    probes: int

    def of(self, evaluations: float) -> dict[Part, Range]:
        """Those that so many evaluations take."""
        calls = self._by_records(evaluations) if self.alike else self._by_structure(evaluations)
        if "designer" in calls and (left := self._probes_left()):
            calls["prober"] = self._probed(calls["designer"], left)
        if every := self.config.findings.every:
            calls["distiller"] = _distilled(evaluations, every)
        return {part: calls[part] for part in PARTS if part in calls and calls[part].high > 0}

    # --- experiments and crossovers -------------------------------------------------------------

    def _by_records(self, evaluations: float) -> dict[Part, Range]:
        found: dict[Part, Range] = {}
        for role in ROLES:
            seen = [(one.calls.get(role, 0.0), one.margin) for one in self.alike]
            if role != "distiller" and any(rate for rate, _ in seen):
                rates = [Range.about(rate, BY_RECORDS * margin) for rate, margin in seen]
                found[role] = Range.around(rates).times(evaluations)
        return found

    def _by_structure(self, evaluations: float) -> dict[Part, Range]:
        few, usual, many = (self._on(name, evaluations) for name in ("few", "usual", "many"))
        return {role: Range(likely=usual[role], low=few[role], high=many[role]) for role in usual}

    def _on(self, name: CourseName, evaluations: float) -> Mapping[Role, float]:
        course = shipped().courses[name]
        islands = [self.config.operators_of(index) for index in range(self.config.islands.count)]
        asking = [mix for mix in islands if mix.kind == "llm"]
        share = len(asking) / len(islands)
        if share < 1:
            share *= {"few": 1 / OTHER_KINDS, "usual": 1, "many": OTHER_KINDS}[name]
        each = [calls_by_structure(mix, course, credit=self.config.credit.on) for mix in asking]
        total = min(1.0, share) * max(0.0, evaluations - 1)  # the naive seed is one of them
        calls = {role: total * fmean(one[role] for one in each) for role in each[0]}
        waiting = sum(mix.select_from > 1 for mix in asking) * self.config.islands.lanes
        first = course.again * course.unselected * waiting
        return {**calls, "selector": max(0.0, calls["selector"] - first)}

    # --- probes and findings --------------------------------------------------------------------

    def _probes_left(self) -> int:
        asks = any(map(self.config.asks_probes, range(self.config.islands.count)))
        return self.probes if asks else 0

    def _probed(self, designs: Range, left: int) -> Range:
        seen = [one.probing for one in self.alike if one.probing is not None]
        asked = Range.of(seen, BY_RECORDS) if seen else PROBING

        def written(course: CourseName, part: float, designs: float) -> float:
            return shipped().courses[course].again * part * min(left, MOST_PROBES * designs)

        return Range(
            likely=written("usual", asked.likely, designs.likely),
            low=written("few", asked.low, designs.low),
            high=written("many", min(1.0, asked.high), designs.high),
        )


def _distilled(evaluations: float, every: int) -> Range:
    """The last, of what is left at the end, may find no model to ask; where one takes long, others
    are left out."""
    all_of_them = math.ceil(evaluations / every)
    most = shipped().courses["many"].again * all_of_them
    return Range(likely=all_of_them, low=max(0, all_of_them - 1) / 2, high=most)


def calls_by_structure(mix: OperatorMix, course: Course, *, credit: bool) -> Mapping[Role, float]:
    """By role, for one evaluation, as the cycles of an island ask."""
    total = sum(mix.weights.values())
    experiment, crossover = mix.experiment / total, mix.crossover / total
    own = (mix.weights["mutation"] + mix.weights["tuning"]) / total
    own *= course.mutated if credit else min(1.0, course.mutated)
    written = experiment * mix.experiments_per_cycle + crossover
    repaired = written * sum(shipped().failed ** time for time in range(1, mix.repairs + 1))
    evaluations = course.judged * (written + repaired) + own
    designed = experiment * (1 + course.redesigned)
    questions: Mapping[Role, float] = {
        "selector": experiment * mix.evolves,
        "designer": designed,
        "writer": experiment * mix.experiments_per_cycle,
        "crossover": crossover,
        "repair": repaired,
    }
    again = course.again / evaluations if evaluations else 0.0
    return {role: many * again for role, many in questions.items()}
