"""The book of ideas: before a writer is paid, an idea is compared with all that were tried."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from engine.store.ideas import IdeaCompared
from engine.store.journal import Journal
from operators.individual import Experiment, Idea
from operators.llm.ideas import LOOKS_REPEATED, REPEATED, Ideas, says_what_is_new


class IdeaBook:
    """Of a whole campaign. What was said of an experiment once is said again after a kill."""

    def __init__(
        self, journal: Journal, *, shared: bool = True, earlier: Iterable[IdeaCompared] = ()
    ) -> None:
        """shared: an idea is compared with those of all islands; else with its own island's."""
        self._journal = journal
        self._shared = shared
        self._compared = {event.key: event for event in earlier}
        self._ideas = Ideas(event.idea for event in self._compared.values() if not event.repeats)

    async def count(self) -> int:
        """Of ideas that may be written, on all islands."""
        return len(self._ideas)

    async def claimed(self, island: int, count: int) -> tuple[Idea, ...]:
        """The first so many, as far as an island may know of them."""
        first = islice(self._ideas, count)
        return tuple(one for one in first if self._shared or one.island == island)

    async def claim(
        self,
        island: int,
        cycle: int,
        number: int,
        experiment: Experiment,
        *,
        told: int,
        again: bool,
    ) -> Idea | None:
        """number: the experiment's in its cycle; told: of how many ideas its designer knew;
        again: it has been told already of what its experiments resemble. None: it may be written;
        else the earlier idea that it repeats without saying what is new against it."""
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
            repeats = self._repeated(event.idea, experiment.new, told=told, again=again)
            known = replace(event, repeats=repeats)
            self._compared[event.key] = known
            if not known.repeats:
                self._ideas.add(known.idea)
            await self._journal.commit(known)
        return self._compared[known.repeats].idea if known.repeats else None

    def _repeated(self, idea: Idea, new: str, *, told: int, again: bool) -> str:
        """The key of the idea that it repeats; "" where there is none."""
        nearest = self._ideas.nearest(idea, island=None if self._shared else idea.island)
        if nearest is None:
            return ""
        earlier, likeness = nearest
        if likeness < (REPEATED if again else LOOKS_REPEATED):
            return ""
        # Nobody can say what is new against what nobody told of.
        known = again or earlier.key in {one.key for one in islice(self._ideas, told)}
        return "" if known and says_what_is_new(new, earlier) else earlier.key
