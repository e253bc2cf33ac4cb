"""An island's candidates: each is drawn, stored, evaluated and told of, and a kill loses none."""

from collections.abc import Sequence

from engine.credit.meter import Bill
from engine.islands.cycle import SLOT, Ask, Cycle
from engine.islands.memory import Memory
from engine.islands.migration import departures
from engine.islands.setting import Setting
from engine.islands.tally import Tally
from engine.islands.tuning import Tuning
from engine.store.events import Added, Drafted
from evaluators.evaluation import Evaluation
from operators.individual import Individual
from operators.operator import Declined


class Candidates:
    """Drafts of cycles under way are kept, so that a resumed cycle draws none of them again."""

    def __init__(self, index: int, setting: Setting, memory: Memory, tuning: Tuning) -> None:
        self._index, self._setting = index, setting
        self._memory, self._tuning = memory, tuning
        self._drafts: dict[str, Drafted] = {}  # of cycles not finished, by key
        self._told: set[str] = set()  # keys of those that became of something
        self.evaluations = 0
        """Told of, over all sessions; mutations in idle device time do not count."""

    async def make(self, cycle: Cycle, ask: Ask, tally: Tally) -> Individual | None:
        """One candidate's life: draft, store, evaluate, tell. None: nothing new."""
        key = f"i{self._index}/c{cycle.number}/s{ask.slot}"
        drafted = self._drafts.get(key)  # stored before a kill: it is not drawn again
        if drafted is not None and key in self._told:
            tally.pay(ask.slot, Bill.of(drafted))
            tally.new += 1
            return self._memory.individuals.get(drafted.kernel_id)
        held = await tally.seats.take(ask.origin, paid=drafted is not None)
        if drafted is not None:  # in a session before
            tally.pay(ask.slot, Bill.of(drafted))
        drafted = drafted or await self._draft(cycle, ask, tally)
        tally.seats.settle(held, useful=drafted is not None)
        if drafted is None:
            return None
        tally.new += 1
        evaluation = await self._setting.evaluate(drafted.kernel_id, drafted.candidate, held)
        return self.tell(drafted, evaluation)

    async def _draft(self, cycle: Cycle, ask: Ask, tally: Tally) -> Drafted | None:
        """Drawn and stored; None: nothing new."""
        context = self._setting.context(self._index, cycle, SLOT + ask.slot, f"s{ask.slot}")
        try:
            draft = await ask.draw(context)
        except Declined as declined:
            tally.decline(declined)
            return None
        finally:
            bill = self._setting.bill(context.key)
            tally.pay(ask.slot, bill)
        drafted = ask.drafted(self._index, cycle.number, draft, bill)
        if not await self.keep(drafted):
            tally.duplicates += 1
            return None
        return drafted

    async def keep(self, drafted: Drafted) -> bool:
        """Store it as one of the island's own. False: the island knows the kernel."""
        if drafted.kernel_id in self._memory.known:
            return False
        self._memory.known.add(drafted.kernel_id)
        self._drafts[drafted.key] = drafted
        await self._setting.journal.commit(drafted)
        return True

    def tell(self, drafted: Drafted, evaluation: Evaluation) -> Individual:
        """What became of a draft: the island takes it in, and others hear of it."""
        individual = drafted.individual(evaluation)
        status = self._memory.take_in([individual])
        self._told.add(drafted.key)
        self.evaluations += 1
        self._setting.journal.post(
            Added(
                island=self._index,
                cycle=drafted.cycle,
                slot=drafted.slot,
                kernel_id=drafted.kernel_id,
                status=status,
            )
        )
        if self._setting.share is not None and drafted.origin != "seed":  # which all know
            self._setting.share(individual)
        self._emigrate()
        self._tuning.renew()
        return individual

    def _emigrate(self) -> None:
        config = self._setting.config
        round, targets = departures(config, self._index, self.evaluations)
        for target in targets:
            elites = self._memory.population.elites(config.migration.elites)
            self._setting.send(self._index, target, round, elites)

    def restore(self, event: Drafted | Added, individuals: Sequence[Individual]) -> None:
        """Replay one of the island's own events: a draft, or what became of it."""
        if isinstance(event, Drafted):
            self._memory.known.add(event.kernel_id)
            self._drafts[event.key] = event
        else:
            self._told.add(event.key)
            self.evaluations += 1
            self._memory.take_in(individuals)

    def unfinished(self) -> list[Drafted]:
        """What a kill left over."""
        return [drafted for key, drafted in self._drafts.items() if key not in self._told]

    def began(self, cycle: int) -> bool:
        """Whether the cycle, which is not finished, has a draft."""
        return bool(self._of(cycle))

    def forget(self, cycle: int) -> None:
        """It is finished: nobody comes back to its drafts."""
        for key in self._of(cycle):
            del self._drafts[key]
            self._told.discard(key)

    def _of(self, cycle: int) -> list[str]:
        return [key for key in self._drafts if key.startswith(f"i{self._index}/c{cycle}/")]
