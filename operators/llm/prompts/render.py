"""Prompts as they are sent: templates filled from a task, a device and individuals."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

import jinja2

from evaluators.device_info import DeviceInfo
from evaluators.kernel.reader import OPTIONS
from evaluators.kernel.source_check import HEADERS
from evaluators.measuring.gain import spread_on
from evaluators.measuring.intervals import Spread
from evaluators.tasks.task import Task
from operators.individual import Experiment, Idea, Individual
from operators.llm.knowledge.digest import knowledge_of
from operators.llm.prompts.landscape import landscape_lines, landscapes
from operators.llm.prompts.record import record, repeat_line, under_way
from operators.llm.prompts.steps import base_of
from operators.llm.prompts.tables import (
    Listing,
    clip,
    listing,
    profile_lines,
    table,
    verdict,
)
from operators.llm.prompts.task_text import exactness, right_when, roofs, work
from operators.llm.question import Failure, Malformed, Message, Prompt, Role
from operators.operator import Context, Repeat

PERSONAS: Mapping[Role, str] = {
    "selector": "Selector",
    "designer": "Experiment Designer",
    "writer": "Kernel Writer",
    "crossover": "Kernel Writer (crossover)",
    "repair": "Kernel Writer (repair)",
}
ARGUMENT_ROLES = {
    "in": "input",
    "out": "output",
    "inout": "input and output",
    "constant": "constant input (weights; `prepare:` launches over it are not timed)",
}

SOURCE_CHARACTERS = 28_000  # of one listing
LOG_CHARACTERS = 4_000
KNOWLEDGE_CHARACTERS = 14_000
REFERENCE_CHARACTERS = 6_000
QUOTED_CHARACTERS = 12_000  # of a rejected reply
MOST_OTHERS = 12
MOST_TRIED = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What every prompt of a campaign shares. share: of the usual length, 1.0 or less.

    profiles: a profiler's advice by kernel id, of those that it looked at. tuned: see Context.
    """

    task: Task
    device: DeviceInfo
    knowledge: str = ""  # the campaign's own findings, after what the package knows
    share: float = 1.0
    profiles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    island: int = 0
    tuned: Mapping[str, Individual] | None = field(default_factory=dict)

    @classmethod
    def of(cls, context: Context, share: float) -> Self:
        return cls(
            task=context.task,
            device=context.device,
            knowledge=context.knowledge,
            share=share,
            profiles=context.profiles,
            island=context.island,
            tuned=context.tuned,
        )

    def points(self, known: Mapping[str, Individual]) -> Sequence[Individual]:
        """What landscapes are made of: individuals, and what was tuned."""
        return [*{**(self.tuned or {}), **known}.values()] if self.roomy else ()

    @property
    def spread(self) -> Spread:
        return spread_on(self.device)

    @property
    def roomy(self) -> bool:
        """Whether there is room for what only rounds the picture off."""
        return self.share >= 1.0

    def limit(self, characters: int) -> int:
        return int(characters * self.share)


def selector_prompt(
    scene: Scene, tournament: Sequence[Individual], known: Mapping[str, Individual]
) -> Prompt:
    """known: individuals that may be shown besides the tournament, by id."""
    shown = {one.id for one in tournament}
    others = [one for one in known.values() if one.id not in shown]
    return _prompt(
        scene,
        "selector",
        island=scene.island,
        table=table(tournament, known, scene.spread),
        profiles={
            one.id: profile_lines(scene.profiles[one.id])
            for one in tournament
            if one.id in scene.profiles
        },
        landscape=landscapes(tournament, scene.points(known), scene.spread),
        others=table(others[-MOST_OTHERS:], known, scene.spread) if others and scene.roomy else "",
    )


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
) -> Prompt:
    """focus: directions to look at first; repeated: what was designed just now, in vain;
    claimed: what had gone to a writer."""
    return _prompt(
        scene,
        "designer",
        base=_listing(scene, base, known),
        reference=_second(scene, reference, base, known),
        landscape=landscape_lines(base, scene.points(known), scene.spread),
        tried=record(known, scene.spread, scene.limit(MOST_TRIED)),
        focus=focus,
        under_way=under_way(claimed, known),
        repeated=[repeat_line(one, known, scene.spread) for one in repeated],
        avenues=avenues,
        experiments=experiments,
    )


def writer_prompt(
    scene: Scene,
    base: Individual,
    reference: Individual,
    experiment: Experiment,
    known: Mapping[str, Individual],
) -> Prompt:
    return _prompt(
        scene,
        "writer",
        base=_listing(scene, base, known),
        reference=_second(scene, reference, base, known),
        experiment=experiment,
        what="kernel that results when this experiment is made on the Base",
        edited="Base",
    )


def crossover_prompt(
    scene: Scene, first: Individual, second: Individual, known: Mapping[str, Individual]
) -> Prompt:
    apart = first.island != second.island
    return _prompt(
        scene,
        "crossover",
        first=_listing(scene, first, known),
        second=_listing(scene, second, known),
        origin="two separate populations" if apart else "one population",
        what="kernel that unites both parents",
        edited="First parent",
    )


def repair_prompt(scene: Scene, failed: Individual, known: Mapping[str, Individual]) -> Prompt:
    parent = base_of(failed, known)
    return _prompt(
        scene,
        "repair",
        failed=_listing(scene, failed, known),
        parent=_listing(scene, parent, known) if parent and scene.roomy else None,
        verdict=verdict(failed),
        log=clip(failed.evaluation.log.strip(), scene.limit(LOG_CHARACTERS)),
        experiment=failed.experiment,
        what="kernel without the fault",
        edited="kernel that failed",
    )


def reask(prompt: Prompt, said: str, malformed: Malformed) -> Prompt:
    """The conversation so far, the reply that could not be used, and what was wrong with it."""
    complaint = _environment().get_template("reask.md.j2")
    text = complaint.render(kind=str(malformed.kind), reason=malformed.reason.rstrip("."))
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
    told = (
        _environment()
        .get_template("smaller.md.j2")
        .render(
            role=role, reason=trouble.rstrip("."), edits=not trouble.startswith(Failure.BAD_EDIT)
        )
    )
    *before, last = prompt.messages
    ended = replace(last, content=f"{last.content}\n\n{_tidy(told)}")
    return Prompt(messages=(*before, ended), template=prompt.template)


# --- rendering ----------------------------------------------------------------------------------


def _prompt(scene: Scene, role: Role, **values: Any) -> Prompt:
    """The system message holds what never changes in a campaign, so that endpoints can cache it."""
    task, device = scene.task, scene.device
    benchmarks = task.workloads("benchmarks", device.backend)
    values |= {
        "task": task,
        "device": device,
        "roles": ARGUMENT_ROLES,
        "right_when": {a.name: right_when(a, benchmarks) for a in task.outputs},
        "task_lines": [*filter(None, [exactness(task, benchmarks)]), *work(task, device)],
        "device_lines": roofs(task, device, benchmarks),
        "benchmarks": [w.label for w in benchmarks],
        "tests": [w.label for w in task.workloads("tests", device.backend)],
    }
    if role != "selector":
        digest = "\n\n".join(filter(None, (knowledge_of(device), scene.knowledge)))
        values["knowledge"] = clip(digest, KNOWLEDGE_CHARACTERS) if scene.roomy else ""
    if role not in ("selector", "designer"):
        values["reference_text"] = clip(
            task.reference_text.strip(), scene.limit(REFERENCE_CHARACTERS)
        )
    system = _environment().get_template("system.md.j2")
    user = _environment().get_template(f"{role}.md.j2")
    return Prompt(
        messages=(
            Message(
                role="system",
                content=_tidy(
                    system.render(
                        persona=PERSONAS[role],
                        writes_code=role not in ("selector", "designer"),
                        options=sorted(OPTIONS),
                        headers=HEADERS,
                        tunes=scene.tuned is not None,
                    )
                ),
            ),
            Message(role="user", content=_tidy(user.render(**values))),
        ),
        template=_templates_hash(),
    )


def _listing(scene: Scene, one: Individual, known: Mapping[str, Individual]) -> Listing:
    advice = scene.profiles.get(one.id, ())
    return listing(one, known, scene.spread, scene.limit(SOURCE_CHARACTERS), profile=advice)


def _second(
    scene: Scene, one: Individual, base: Individual, known: Mapping[str, Individual]
) -> Listing | None:
    """The Reference's listing; None where it is the Base, or where there is no room for both."""
    if one.id == base.id or not scene.roomy:
        return None
    return _listing(scene, one, known)


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


@cache
def _templates_hash() -> str:
    """16 hex digits of all templates together: they include each other."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.j2")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _tidy(text: str) -> str:
    """No two empty lines in a row. (Edits are found whatever the blanks are.)"""
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() or (lines and lines[-1]):
            lines.append(line.rstrip())
    return "\n".join(lines).strip()
