"""The book of ideas: before a writer is paid, an idea is compared with all that were tried."""

from collections.abc import Iterable
from dataclasses import replace

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

    async def claim(
        self, island: int, cycle: int, number: int, experiment: Experiment, *, again: bool
    ) -> Idea | None:
        """number: the experiment's in its cycle; again: its designer has been told already of
        what earlier ones resemble. None: it may be written; else the earlier idea that it repeats
        without saying what is new."""
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
            known = replace(event, repeats=self._repeated(event.idea, experiment.new, again=again))
            self._compared[event.key] = known
            if not known.repeats:
                self._ideas.add(known.idea)
            await self._journal.commit(known)
        return self._compared[known.repeats].idea if known.repeats else None

    def _repeated(self, idea: Idea, new: str, *, again: bool) -> str:
        """The key of the idea that it repeats; "" where there is none."""
        nearest = self._ideas.nearest(idea, island=None if self._shared else idea.island)
        if nearest is None:
            return ""
        earlier, likeness = nearest
        limit = REPEATED if again else LOOKS_REPEATED
        return "" if likeness < limit or says_what_is_new(new, earlier) else earlier.key
