"""What a session has left of the two budgets that end a search: evaluations, and its time."""

import time

from engine.config import CampaignConfig
from engine.snapshot import DispatcherState
from engine.steering import Steering
from engine.store.replay import Replay


class BudgetLeft:
    """Of evaluations, those in idle device time apart; of the search's wall time, pauses apart."""

    def __init__(self, config: CampaignConfig, before: Replay | None, steering: Steering) -> None:
        """before: what earlier sessions used up; steering: knows of this one's pauses."""
        self._budgets, self._steering = config.budgets, steering
        self._searched_s = before.searched_s if before else 0.0  # by earlier sessions
        self._began: float | None = None  # monotonic seconds

    def begin_search(self) -> None:
        """Its time counts from now on."""
        self._began = time.monotonic()

    def evaluations(self, dispatcher: DispatcherState) -> int | None:
        """None: they have no budget."""
        budget = self._budgets.evaluations
        done = sum(dispatcher.by_status.values()) - dispatcher.tuned
        return None if budget is None else max(0, budget - done)

    def seconds(self) -> float | None:
        """None: time has no budget."""
        budget = self._budgets.wall_time_s
        if budget is None:
            return None
        began, now = self._began, time.monotonic()
        searched_s = now - began - self._steering.rested_s if began is not None else 0.0
        return max(0.0, budget - self._searched_s - searched_s)
