"""An island's mutations in idle device time: points of its own kernels that no cycle asked for."""

from collections.abc import Sequence

from engine.ending import Stopped
from engine.islands.memory import Memory
from engine.islands.population import AddStatus
from engine.islands.setting import Setting
from engine.store.events import Added, Drafted
from evaluators.evaluation import Evaluation
from evaluators.kernel.source import kernel_id
from operators.individual import Individual
from operators.tuning.elites import Elites


class Tuning:
    """They are drafted, evaluated and told as a cycle's candidates are, as slots of cycle 0."""

    def __init__(self, index: int, setting: Setting, memory: Memory) -> None:
        self._index, self._setting, self._memory = index, setting, memory
        self._elites = Elites(setting.task, setting.device)
        self._last_slot = 0  # the seed's
        self._unfinished: list[Drafted] = []  # of an earlier session
        self._pending: dict[str, Drafted] = {}  # by key
        self._in_vain = False  # it was asked, and had nothing
        # Every island has the naive seed; one of them tunes it.
        self._tunes_seed = not any(setting.config.tunes(other) for other in range(index))

    async def next(self) -> bool:
        """Have one more measured, and take it in. False: there is none, or no time for it."""
        evaluate = self._setting.evaluate_idle
        drafted = self._unfinished.pop(0) if self._unfinished else await self._draft()
        if drafted is None or evaluate is None:
            return False
        try:
            evaluation = await evaluate(drafted.kernel_id, drafted.candidate)
        except Stopped:
            self._unfinished.append(drafted)
            self._in_vain = True
            return False
        self._tell(drafted, evaluation)
        return True

    def renew(self) -> None:
        """The island has a new kernel, which may have untried points."""
        if self._in_vain:
            self._in_vain = False
            self._setting.offer()

    def restore(self, event: Drafted | Added, individuals: Sequence[Individual]) -> None:
        """Replay one of its own events: a draft, or what became of it."""
        if isinstance(event, Drafted):
            self._last_slot = max(self._last_slot, event.slot)
            self._memory.known.add(event.kernel_id)
            self._unfinished.append(event)
            self._pending[event.key] = event
        else:
            self._unfinished = [one for one in self._unfinished if one.key != event.key]
            self._pending.pop(event.key, None)
            self._memory.take_in(individuals)

    async def _draft(self) -> Drafted | None:
        individuals = self._memory.individuals.values()
        points = (*individuals, *self._memory.tuned.values())
        made = self._elites.propose(
            filter(self._owns, individuals),
            points,
            [one.candidate for one in self._pending.values()],
            self._memory.known,
            count=1,
            rng=self._setting.rng(self._index, 0, 1 + self._last_slot),
        )
        self._in_vain = not made
        if not made:
            return None
        found = made[0]
        self._last_slot += 1
        drafted = Drafted(
            island=self._index,
            cycle=0,
            slot=self._last_slot,
            kernel_id=kernel_id(found.draft.candidate.source),
            candidate=found.draft.candidate,
            origin="mutation",
            parents=(found.parent.id,),
            report=found.draft.report,
        )
        self._memory.known.add(drafted.kernel_id)
        self._pending[drafted.key] = drafted
        await self._setting.journal.commit(drafted)
        return drafted

    def _owns(self, one: Individual) -> bool:
        return one.island == self._index and (one.origin != "seed" or self._tunes_seed)

    def _tell(self, drafted: Drafted, evaluation: Evaluation) -> None:
        individual = drafted.individual(evaluation)
        self._pending.pop(drafted.key, None)
        status = self._memory.take_in([individual])
        self._setting.journal.post(
            Added(
                island=self._index,
                cycle=0,
                slot=drafted.slot,
                kernel_id=drafted.kernel_id,
                status=status,
            )
        )
        self.renew()
        if self._setting.share is not None and status != AddStatus.NOT_ADDED.name:
            self._setting.share(individual)
