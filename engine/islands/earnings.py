"""Earnings: what an island's kernels gained, what they cost, and what designers had foretold."""

from collections.abc import Iterable, Mapping

from engine.credit.calibration import Calibrations, designer_of
from engine.credit.credit import Credit
from engine.credit.earning import earned
from engine.credit.meter import Bill
from engine.islands.cycle import Ask, Cycle
from engine.islands.setting import Setting
from engine.islands.tally import ROLE_OF, Tally
from engine.store.events import CycleFinished
from engine.store.kinds.credit import Earned
from evaluators.measuring.gain import spread_on
from operators.calibration import Calibration
from operators.individual import Individual
from operators.llm.prompts.steps import base_of


class Earnings:
    """Counted for each kernel of a cycle, and told to credit when the cycle is finished."""

    def __init__(self, index: int, setting: Setting, credit: Credit) -> None:
        self._index, self._setting, self._credit = index, setting, credit
        self._calibrations = Calibrations()
        self._spread = spread_on(setting.device)

    def count(
        self, cycle: Cycle, ask: Ask, one: Individual | None, tally: Tally, *, ended: bool
    ) -> None:
        """What became of an ask. one: the new kernel, if any; ended: no repair follows."""
        told = earned(
            one,
            base=cycle.individuals.get(ask.parents[0]) if ask.parents else None,
            known=cycle.individuals,
            best=cycle.best,
            spread=self._spread,
            origin=ask.origin,
            role=ROLE_OF.get(ask.origin, "") if self._setting.meter else "",
            experiment=ask.experiment if ended else None,
            bill=tally.bills.get(ask.slot, Bill()),
        )
        tally.earned.append(told)

    def settle(self, cycle: Cycle, tally: Tally) -> None:
        """What the cycle asked before its first kernel is earned with nothing."""
        bill = self._setting.bill_of_cycle(self._index, cycle.number)
        tally.asked = {**bill.models, **tally.asked}
        if bill.models:
            tally.earned.append(Earned(seconds=bill.seconds, dollars=bill.dollars))

    def take(self, finished: CycleFinished, *, foretold: bool) -> None:
        """foretold: a designer did; a person predicts nothing."""
        self._credit.take(finished)
        if foretold:
            self._calibrations.take(self._designer(finished.asked), finished.earned)

    def hear(self, heard: Iterable[Individual], known: Mapping[str, Individual]) -> None:
        """Of other islands' kernels: what models are worth. known: whom to look up."""
        for one in heard:
            if one.writer:
                self._credit.hear(self._of_another(one, known))

    def calibration(self, models: Mapping[str, str]) -> Calibration:
        """Of the designer. models: role -> name, of those that are asked."""
        return self._calibrations.of(self._designer(models))

    def _of_another(self, one: Individual, known: Mapping[str, Individual]) -> Earned:
        return earned(
            one,
            base=base_of(one, known),
            known=known,
            best=None,
            spread=self._spread,
            origin=one.origin,
            role=ROLE_OF.get(one.origin, ""),
            experiment=None,
            bill=Bill.of(one),
        )

    def _designer(self, models: Mapping[str, str]) -> str:
        return designer_of(self._setting.config, self._index, models)
