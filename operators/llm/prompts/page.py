"""Page: one prompt in the making; what never changes stands first, and its budget is kept."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluators.device_info import DeviceInfo
from evaluators.dtypes import SCALARS
from evaluators.kernel.porting.headers import HEADERS
from evaluators.kernel.reader import OPTIONS
from evaluators.measuring.gain import spread_on
from evaluators.tasks.task import Task
from operators.individual import Individual
from operators.llm.call import CHARACTERS_A_TOKEN
from operators.llm.knowledge.digest import knowledge_of
from operators.llm.prompts.room import LEAST_CHARACTERS, Room
from operators.llm.prompts.tables import Listing, clip, listing
from operators.llm.prompts.task_text import (
    arguments_told,
    cpp_types,
    exactness,
    layout,
    roofs,
    set_by_shape,
    weighed,
    work,
)
from operators.llm.prompts.templates import render, templates_hash
from operators.llm.question import Message, Prompt, Role
from operators.operator import Knowledge

PERSONAS: Mapping[str, str] = {
    "selector": "Selector",
    "designer": "Experiment Designer",
    "writer": "Kernel Writer",
    "crossover": "Kernel Writer (crossover)",
    "repair": "Kernel Writer (repair)",
    "probe": "Kernel Writer (probe)",
    "distiller": "Distiller",
}
GPU_DIRECTIONS = (
    "memory access, data layout, tiling, pipelining, instruction choice, occupancy, work "
    "distribution, algorithm, shape by shape"
)
CPU_DIRECTIONS = (
    "order of loops, data layout, tiling, vector types, accumulators, instruction choice, work of "
    "a thread, algorithm, shape by shape"
)
KNOWLEDGE_SHARE = 0.2
"""Of the budget. Shares of the budget alone are the same in all prompts of a campaign."""
MEASURED_SHARE, FINDINGS_SHARE = 0.1, 0.1
REFERENCE_SHARE = 0.1
DESCRIPTION_SHARE = 0.2
FRAME_CHARACTERS = 1_500
"""Of headings and closing words, which are not counted one by one."""
LONG_LINES = 80
"""From here on a kernel is better changed by edits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A second kernel. alike: its source is what differs from the first's."""

    listing: Listing
    alike: bool


class Page:
    """First the system message and the task, then what room there is for."""

    def __init__(
        self,
        role: Role,
        task: Task,
        device: DeviceInfo,
        *,
        tokens: int,
        knowledge: Knowledge,
        profiles: Mapping[str, tuple[str, ...]],
        said: Mapping[str, Any],
        template: str = "",
    ) -> None:
        """tokens: the budget; knowledge: the campaign's own; said: for the system message.

        template: of what the role is asked for, where that is not its usual work.
        """
        self._role, self._device, self._profiles = role, device, profiles
        self._template = template or role
        self._left_out: list[str] = []
        self._characters = int(tokens * CHARACTERS_A_TOKEN)
        self._system = render(
            "system",
            persona=PERSONAS[self._template],
            part=f"_{template or ('writer' if self._writes else role)}_part.md.j2",
            options=sorted(OPTIONS),
            cpp_types=cpp_types(task),
            has_attributes=bool(task.attributes),
            scalar_types=", ".join(name for name in SCALARS if name != "int32"),
            headers=HEADERS,
            directions=GPU_DIRECTIONS if device.judges_on_device else CPU_DIRECTIONS,
            long_lines=LONG_LINES,
            timed=device.timed,
            **said,
        )
        self._stable = self._told_always(task, device, knowledge)
        self.room = Room(tokens, len(self._system) + len(self._stable) + FRAME_CHARACTERS)

    @property
    def _writes(self) -> bool:
        return self._role not in ("selector", "designer", "distiller")

    def _told_always(self, task: Task, device: DeviceInfo, knowledge: Knowledge) -> str:
        benchmarks = task.workloads("benchmarks", device.backend)
        reference = self._share(task.reference_text.strip(), REFERENCE_SHARE)
        return render(
            "_stable",
            task=task,
            description=self._share(task.description, DESCRIPTION_SHARE),
            device=device,
            notes=() if self._role in ("selector", "distiller") else device.notes,
            layout=layout(task),
            arguments=arguments_told(task, benchmarks),
            task_lines=[
                *set_by_shape(task),
                *filter(None, [exactness(task, benchmarks), weighed(benchmarks)]),
                *work(task, device),
            ],
            device_lines=roofs(task, device, benchmarks),
            benchmarks=[w.label for w in benchmarks],
            tests=[w.label for w in task.workloads("tests", device.backend)],
            reference_text=reference if self._writes else "",
            knowledge=knowledge_of(task, device, self._role, self._room_for(KNOWLEDGE_SHARE)),
            measured=self._lines(knowledge.measured, MEASURED_SHARE),
            findings=self._lines(knowledge.findings, FINDINGS_SHARE),
        )

    def _lines(self, lines: Sequence[str], share: float) -> list[str]:
        """Whole lines, the first ones; the last says how many were left out."""
        room = Room(0, 0)
        room.characters = self._room_for(share)
        kept, dropped = room.first_lines(lines)
        return [*kept, f"({dropped} further ones are left out.)"] if dropped else kept

    def _share(self, text: str, share: float) -> str:
        return clip(text, self._room_for(share))

    def _room_for(self, share: float) -> int:
        """Characters of a share of the budget."""
        return int(self._characters * share)

    def listing(self, one: Individual, known: Mapping[str, Individual]) -> Listing:
        """The kernel that all else is about: it goes first, and is never left out."""
        whole = self._whole(one, known)
        return replace(whole, source=self.room.text(whole.source, 0.8, least=LEAST_CHARACTERS))

    def beside(
        self,
        one: Individual,
        first: Individual,
        known: Mapping[str, Individual],
        *,
        share: float = 1.0,
    ) -> Beside | None:
        """A second kernel, as a diff where they are alike; None: it is the first again."""
        if one.id == first.id:
            return None
        if self.room.characters < 2 * LEAST_CHARACTERS:
            self._left_out.append(f"Kernel {one.id} was to stand here too; there is no room.")
            return None
        whole = self._whole(one, known)
        diff = difference(first.candidate.source, one.candidate.source)
        alike = 2 * len(diff) < len(whole.source)
        shown = self.room.text(diff if alike else whole.source, share)
        return Beside(listing=replace(whole, source=shown), alike=alike)

    def most(self, share: float) -> int:
        """Characters of a part: a share of the budget, and no more than there is room for."""
        return min(self.room.characters, int(share * self._characters))

    def advice(self, title: str, one: Individual) -> str:
        """How to answer, at the end of a prompt."""
        lines = len(one.candidate.source.splitlines())
        if lines <= LONG_LINES:
            return ""
        return f"; the {title} has {lines} lines: where most stay, give edits"

    def prompt(self, **values: Any) -> Prompt:
        told = {"stable": self._stable, "timed": self._device.timed, "left_out": self._left_out}
        text = render(self._template, **told, **values)
        return Prompt(
            messages=(
                Message(role="system", content=self._system),
                Message(role="user", content=text),
            ),
            template=templates_hash(),
        )

    def _whole(self, one: Individual, known: Mapping[str, Individual]) -> Listing:
        """Takes the room of all but the source."""
        size = len(one.candidate.source)
        advice = self._profiles.get(one.id, ())
        whole = listing(one, known, spread_on(self._device), size, profile=advice)
        self.room.take(whole.lineage, whole.experiment, whole.report, whole.times)
        self.room.take(*whole.diagnosis)
        return whole


def difference(first: str, second: str) -> str:
    """A unified diff, without its head."""
    lines = difflib.unified_diff(first.splitlines(), second.splitlines(), lineterm="", n=2)
    return "\n".join(list(lines)[2:])
