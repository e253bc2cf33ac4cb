"""The book of ideas: before a writer is paid, an idea is compared with all that were tried."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from engine.store.journal import Journal
from engine.store.kinds.ideas import IdeaCompared, IdeaEvent, IdeasTold
from operators.individual import Experiment, Idea
from operators.llm.ideas import (
    LOOKS_REPEATED,
    REPEATED,
    VERBATIM,
    Ideas,
    says_little,
    says_what_is_new,
)


class IdeaBook:
    """Of a whole campaign. What was said of an experiment once is said again after a kill."""

    def __init__(
        self, journal: Journal, *, shared: bool = True, earlier: Iterable[IdeaEvent] = ()
    ) -> None:
        """shared: an idea is compared with those of all islands; else with its own island's."""
        self._journal = journal
        self._shared = shared
        self._compared: dict[str, IdeaCompared] = {}
        self._told: dict[str, int] = {}  # of how many ideas, by cycle
        self._ideas = Ideas()
        for event in earlier:
            self._take(event)

    def _take(self, event: IdeaEvent) -> None:
        if isinstance(event, IdeasTold):
            self._told[event.key] = event.count
            return
        self._compared[event.key] = event
        if not event.repeats:
            self._ideas.add(event.idea)

    async def tell(self, island: int, cycle: int) -> tuple[Idea, ...]:
        """What a cycle's designer may know: all that went to a writer so far; on the same question
        the same again."""
        event = IdeasTold(island=island, cycle=cycle, count=len(self._ideas))
        if event.key not in self._told:
            self._take(event)
            await self._journal.commit(event)
        first = islice(self._ideas, self._told[event.key])
        return tuple(one for one in first if self._shared or one.island == island)

    async def claim(
        self,
        island: int,
        cycle: int,
        number: int,
        experiment: Experiment,
        *,
        again: bool,
    ) -> Idea | None:
        """number: the experiment's in its cycle; again: its designer has been told already of
        what earlier ones resemble. None: it may be written; else the earlier idea that it repeats
        without saying what is new against it."""
        event = IdeaCompared(
            island=island,
            cycle=cycle,
            number=number,
            technique=experiment.technique,
            description=experiment.description,
            rubric=experiment.rubric,
        )
        known = self._compared.get(event.key)
        if known is None:
            repeats = self._repeated(
                event.idea,
                experiment.new,
                told=self._told.get(f"i{island}/c{cycle}", 0),
                again=again,
            )
            known = replace(event, repeats=repeats)
            self._take(known)
            await self._journal.commit(known)
        return self._compared[known.repeats].idea if known.repeats else None

    def _repeated(self, idea: Idea, new: str, *, told: int, again: bool) -> str:
        """The key of the idea that it repeats; "" where there is none."""
        keys = {one.key for one in self._ideas if self._shared or one.island == idea.island}
        shown = {one.key for one in islice(self._ideas, told)}
        nearest = self._ideas.nearest(idea, keys)
        limit = REPEATED if again else LOOKS_REPEATED
        if nearest is None or nearest[1] < (VERBATIM if says_little(idea) else limit):
            return ""
        earlier = nearest[0]
        # Nobody can say what is new against what nobody told of.
        told_of = again or earlier.key in shown
        return "" if told_of and says_what_is_new(new, earlier) else earlier.key
