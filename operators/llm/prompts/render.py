"""Prompts as they are sent: templates filled from a task, a device and individuals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Self

from evaluators.device_info import DeviceInfo
from evaluators.measuring.gain import spread_on
from evaluators.measuring.intervals import Spread
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task
from operators.individual import Experiment, Idea, Individual
from operators.llm.prompts.landscape import landscape_lines, landscapes
from operators.llm.prompts.page import Page
from operators.llm.prompts.record import record_within, repeat_line, under_way
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.prompts.steps import base_of
from operators.llm.prompts.tables import clip, profile_lines, table, verdict
from operators.llm.prompts.templates import render
from operators.llm.question import Failure, Malformed, Message, Prompt, Role
from operators.operator import (
    NOTHING_LEARNED,
    AskedProbe,
    Context,
    Knowledge,
    ProbesLeft,
    Repeat,
)

LOG_CHARACTERS = 4_000
QUOTED_CHARACTERS = 12_000  # of a rejected reply
TEXT_CHARACTERS = 8_000  # of an experiment's description or rubric
MOST_OTHERS = 12
LINE_TOLD = 1.25
"""Times as much as usual, or as little, that a line of descent must have gained to be named."""
NO_LINES: Mapping[str, float] = {}
RECORD_SHARE = 0.25
"""Of the Designer's budget, for the experiments that were made before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What every prompt of a campaign shares. tokens: the budget of this one.

    knowledge: what the campaign has learned, beside what the package knows. profiles: a
    profiler's advice by kernel id, of those that it looked at. rationale: why a model chose
    the Base and the Reference. tuned: see Context.
    """

    task: Task
    device: DeviceInfo
    tokens: int = PROMPT_TOKENS["writer"]
    knowledge: Knowledge = NOTHING_LEARNED
    profiles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rationale: str = ""
    island: int = 0
    tuned: Mapping[str, Individual] | None = field(default_factory=dict)

    @classmethod
    def of(cls, context: Context, tokens: int) -> Self:
        return cls(
            task=context.task,
            device=context.device,
            tokens=tokens,
            knowledge=context.knowledge,
            profiles=context.profiles,
            rationale=context.rationale,
            island=context.island,
            tuned=context.tuned,
        )

    def points(self, known: Mapping[str, Individual]) -> Sequence[Individual]:
        """What landscapes are made of: individuals, and what was tuned."""
        return [*{**(self.tuned or {}), **known}.values()]

    @property
    def spread(self) -> Spread:
        return spread_on(self.device)

    @property
    def benchmarks(self) -> Sequence[Workload]:
        return self.task.workloads("benchmarks", self.device.backend)

    def page(self, role: Role, *, template: str = "", **said: Any) -> Page:
        """template: see Page; said: what the role's system message names."""
        return Page(
            role,
            self.task,
            self.device,
            tokens=self.tokens,
            knowledge=self.knowledge,
            profiles=self.profiles,
            template=template,
            said={**said, "tunes": self.tuned is not None},
        )


def selector_prompt(
    scene: Scene,
    tournament: Sequence[Individual],
    known: Mapping[str, Individual],
    lines: Mapping[str, float] = NO_LINES,
) -> Prompt:
    """known: individuals that may be shown besides the tournament, by id. lines: see Context."""
    page = scene.page("selector")
    head, rows = _table(tournament, known, scene.spread)
    shown, slower = page.room.first_lines(rows, 0.7)
    inside = {one.id for one in tournament}
    others = [one for one in known.values() if one.id not in inside]
    nearby_head, nearby = _table(others[-MOST_OTHERS:], known, scene.spread)
    nearby, _ = page.room.lines(nearby, page.room.characters // 2)
    advice = [
        f"{one.id}: {line}"
        for one in tournament
        for line in profile_lines(scene.profiles.get(one.id, ()))
    ]
    advice, unsaid = page.room.first_lines(advice)
    measured = landscapes(tournament, scene.points(known), scene.spread, scene.benchmarks)
    told, _ = page.room.first_lines([f"{one}: {line}" for one, line in measured.items()], 0.5)
    return page.prompt(
        island=scene.island,
        table="\n".join([*head, *shown]),
        slower=slower,
        profiles=advice,
        unsaid=unsaid,
        others="\n".join([*nearby_head, *nearby]) if nearby else "",
        more=len(others) - len(nearby),
        landscape=told if measured else [],
        lines=[
            f"{one.id}: {lines[one.id]:.2g}" for one in tournament if _is_told(lines.get(one.id, 1))
        ],
    )


def _is_told(factor: float) -> bool:
    return not 1 / LINE_TOLD < factor < LINE_TOLD


def _table(
    individuals: Sequence[Individual], known: Mapping[str, Individual], spread: Spread
) -> tuple[list[str], list[str]]:
    """Its head and its rows."""
    lines = table(individuals, known, spread).splitlines()
    return lines[:2], lines[2:]


def designer_prompt(
    scene: Scene,
    base: Individual,
    reference: Individual,
    known: Mapping[str, Individual],
    *,
    avenues: int,
    experiments: int,
    focus: Sequence[str] = (),
    repeated: Sequence[Repeat] = (),
    claimed: Sequence[Idea] = (),
    probes: ProbesLeft | None = None,
    most_probes: int = 0,
    avenue: str = "",
) -> Prompt:
    """focus: directions to look at first; avenue: the one that is looked at before them; repeated:
    what was designed just now, in vain; claimed: what had gone to a writer; most_probes: that may
    be asked for now."""
    page = scene.page(
        "designer",
        avenues=avenues,
        experiments=experiments,
        focus=focus,
        asks_probes=probes is not None,
    )
    page.room.take(*(probes.asked if probes else ()))
    again = [repeat_line(one, known, scene.spread) for one in repeated]
    out = under_way(claimed, known)
    page.room.take(*again, *out, scene.knowledge.calibration)
    shown = page.listing(base, known)
    rationale = page.room.text(scene.rationale, 0.1)
    beside = page.beside(reference, base, known, share=0.6)
    tried = record_within(known, scene.spread, page.most(RECORD_SHARE))
    lines = landscape_lines(base, scene.points(known), scene.spread, scene.benchmarks)
    land, _ = page.room.first_lines(lines, 0.5)
    return page.prompt(
        landscape=land,
        under_way=out,
        base=shown,
        beside=beside,
        rationale=rationale,
        tried=tried,
        repeated=again,
        calibration=scene.knowledge.calibration,
        avenue=avenue,
        avenues=avenues,
        experiments=experiments,
        probes=probes,
        most_probes=most_probes,
    )


def writer_prompt(
    scene: Scene,
    base: Individual,
    reference: Individual,
    experiment: Experiment,
    known: Mapping[str, Individual],
) -> Prompt:
    page = scene.page(
        "writer", what="kernel that results when this experiment is made on the Base", edited="Base"
    )
    description, rubric = _texts(page, experiment)
    return page.prompt(
        base=page.listing(base, known),
        beside=page.beside(reference, base, known),
        description=description,
        rubric=rubric,
        performance=None if experiment.by_a_person else experiment.performance,
        advice=page.advice("Base", base),
    )


def probe_prompt(
    scene: Scene, asked: AskedProbe, base: Individual, known: Mapping[str, Individual]
) -> Prompt:
    """What a writer is sent for a probe file."""
    page = scene.page("writer", template="probe", probe_format=_probe_format())
    rubric = page.room.text(clip(asked.rubric, TEXT_CHARACTERS), 0.25, least=1000)
    return page.prompt(base=page.listing(base, known), question=asked.question, rubric=rubric)


@cache
def _probe_format() -> str:
    return (files("evaluators.probes") / "format.md").read_text("utf-8").strip()


def crossover_prompt(
    scene: Scene, first: Individual, second: Individual, known: Mapping[str, Individual]
) -> Prompt:
    page = scene.page("crossover", what="kernel that unites both parents", edited="First parent")
    apart = first.island != second.island
    return page.prompt(
        first=page.listing(first, known),
        beside=page.beside(second, first, known),
        origin="two separate populations" if apart else "one population",
        advice=page.advice("First parent", first),
    )


def repair_prompt(scene: Scene, failed: Individual, known: Mapping[str, Individual]) -> Prompt:
    page = scene.page("repair", what="kernel without the fault", edited="kernel that failed")
    parent = base_of(failed, known)
    said = verdict(failed)
    page.room.take(said)
    log = page.room.text(clip(failed.evaluation.log.strip(), LOG_CHARACTERS), 0.3)
    description, rubric = _texts(page, failed.experiment)
    return page.prompt(
        failed=replace(page.listing(failed, known), experiment=""),  # it stands below, whole
        beside=page.beside(parent, failed, known) if parent else None,
        verdict=said,
        log=log,
        description=description,
        rubric=rubric,
        advice=page.advice("kernel that failed", failed),
    )


def _texts(page: Page, experiment: Experiment | None) -> tuple[str, str]:
    """An experiment's description and rubric."""
    if experiment is None:
        return "", ""
    texts = (clip(text, TEXT_CHARACTERS) for text in (experiment.description, experiment.rubric))
    description, rubric = (page.room.text(text, 0.25, least=1000) for text in texts)
    return description, rubric


def reask(prompt: Prompt, said: str, malformed: Malformed) -> Prompt:
    """The conversation so far, the reply that could not be used, and what was wrong with it."""
    text = render("reask", kind=str(malformed.kind), reason=malformed.reason.rstrip("."))
    if said:
        turns: tuple[Message, ...] = (
            *prompt.messages,
            Message(role="assistant", content=clip(said, QUOTED_CHARACTERS)),
            Message(role="user", content=text),
        )
    else:  # some endpoints take no empty turn, and no two turns of one side in a row
        last = prompt.messages[-1]
        turns = (*prompt.messages[:-1], replace(last, content=f"{last.content}\n\n{text}"))
    return Prompt(messages=turns, template=prompt.template)


def smaller(prompt: Prompt, role: Role, trouble: str) -> Prompt:
    """The prompt with a smaller task at its end. trouble: what was wrong with the last replies."""
    edits = not trouble.startswith(Failure.BAD_EDIT)
    told = render("smaller", role=role, reason=trouble.rstrip("."), edits=edits)
    *before, last = prompt.messages
    ended = replace(last, content=f"{last.content}\n\n{told}")
    return Prompt(messages=(*before, ended), template=prompt.template)
