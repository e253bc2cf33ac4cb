"""What people bring to an island: kernels, evaluated beside its cycles, and ideas, a cycle each."""

import asyncio
from dataclasses import dataclass

from engine.ending import Stopped
from engine.islands.candidates import Candidates
from engine.islands.cycle import Ask
from engine.islands.setting import Setting
from engine.store.events import Added, Drafted
from engine.store.kinds.steering import Injected
from evaluators.kernel.source import kernel_id
from operators.individual import BY_A_PERSON, Candidate, Experiment, Individual
from operators.operator import Writer

IDEA = "idea"
"""The operator of a cycle that tries a person's idea: it says nothing of the island's own."""

RUBRIC = "Do what is described. Where it leaves something open, choose what promises most."


@dataclass(frozen=True, slots=True)
class PersonsIdea:
    """base: the kernel that it is tried on."""

    event: Injected
    base: Individual


class Injections:
    """They are stored before they come here, so that none is lost; a draft that is stored is not
    drafted again, and a verdict is asked for as often as a kill makes it necessary."""

    def __init__(self, setting: Setting, candidates: Candidates) -> None:
        self._setting, self._candidates = setting, candidates
        self._kernels: dict[str, Injected] = {}  # not told of yet, by the draft's key
        self._drafts: dict[str, Drafted] = {}  # of these
        self._ideas: dict[int, PersonsIdea] = {}  # no cycle has begun with them, by number
        self._tasks: set[asyncio.Task[None]] | None = None  # None until the island runs

    def give(self, event: Injected, base: Individual | None = None) -> None:
        """base: an idea's."""
        if base is not None:
            self._ideas[event.number] = PersonsIdea(event, base)
            return
        self._kernels[event.draft_key] = event
        if self._tasks is not None:
            self._begin(event)

    def take_idea(self, number: int | None = None) -> PersonsIdea | None:
        """That one, or the next; None where there is none."""
        if number is None:
            number = min(self._ideas, default=0)
        return self._ideas.pop(number, None)

    def restore(self, event: Drafted | Added) -> None:
        """Replay one of the island's own events: a draft, or what became of it."""
        if event.key not in self._kernels:
            return
        if isinstance(event, Drafted):
            self._drafts[event.key] = event
        else:
            self._forget(event.key)

    def start(self) -> None:
        """The island runs: have all kernels evaluated that came before, and from now on at once."""
        self._tasks = set()
        for event in list(self._kernels.values()):
            self._begin(event)

    async def ended(self) -> None:
        """Return when none is under way. Raises what one of them raised."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    def _begin(self, event: Injected) -> None:
        assert self._tasks is not None
        task = asyncio.get_running_loop().create_task(self._evaluate(event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _evaluate(self, event: Injected) -> None:
        """Draft, store, evaluate, tell. One that the campaign's end cuts off waits for the next
        session."""
        drafted = self._drafts.get(event.draft_key) or draft_of(event)
        if event.draft_key not in self._drafts and not await self._candidates.keep(drafted):
            self._forget(event.draft_key)  # the island knows it
            return
        try:
            evaluation = await self._setting.evaluate(drafted.kernel_id, drafted.candidate)
        except Stopped:
            return
        self._candidates.tell(drafted, evaluation)
        self._forget(event.draft_key)

    def _forget(self, key: str) -> None:
        self._kernels.pop(key, None)
        self._drafts.pop(key, None)


def draft_of(event: Injected) -> Drafted:
    """A person's kernel, or one that another campaign found, as a candidate."""
    candidate = Candidate.from_source(event.text)
    return Drafted(
        island=event.island,
        cycle=0,
        slot=event.slot,
        kernel_id=kernel_id(candidate.source),
        candidate=candidate,
        origin="injected" if event.entry else "carried",
        report=event.name,
    )


def idea_ask(idea: Injected, base: Individual, writer: Writer) -> Ask:
    """What a person thought of, as an experiment on its Base."""
    experiment = Experiment(
        technique=BY_A_PERSON,
        description=idea.text,
        rubric=RUBRIC,
        performance=(0.0, 0.0),
        innovation=0,
    )
    return Ask(
        slot=0,
        draw=lambda told: writer.write(base, base, experiment, told),
        origin="experiment",
        parents=(base.id,),
        experiment=experiment,
    )
