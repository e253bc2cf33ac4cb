"""The book of ideas: before a writer is paid, an idea is compared with all that were tried."""

from collections.abc import Iterable

from engine.store.ideas import IdeaClaimed
from engine.store.journal import Journal
from operators.individual import Experiment
from operators.llm.ideas import REPEATED, Idea, Ideas, says_what_is_new


class IdeaBook:
    """Of a whole campaign. What was granted once stays granted, so that a resumption may ask
    again; what repeats an idea goes on repeating it."""

    def __init__(
        self, journal: Journal, *, shared: bool = True, earlier: Iterable[IdeaClaimed] = ()
    ) -> None:
        """shared: an idea is compared with those of all islands; else with its own island's."""
        self._journal = journal
        self._shared = shared
        self._granted = {event.key: event.idea for event in earlier}
        self._ideas = Ideas(self._granted.values())

    async def claim(
        self, island: int, cycle: int, number: int, experiment: Experiment
    ) -> Idea | None:
        """number: the experiment's in its cycle. None: it may be written; else the earlier idea
        that it repeats without saying what is new."""
        event = IdeaClaimed(
            island=island,
            cycle=cycle,
            number=number,
            technique=experiment.technique,
            description=experiment.description,
            rubric=experiment.rubric,
        )
        if event.key in self._granted:
            return None
        nearest = self._ideas.nearest(event.idea, island=None if self._shared else island)
        if nearest is not None:
            earlier, likeness = nearest
            if likeness >= REPEATED and not says_what_is_new(experiment.new, earlier):
                return earlier
        self._granted[event.key] = event.idea
        self._ideas.add(event.idea)
        await self._journal.commit(event)
        return None
