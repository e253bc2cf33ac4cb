"""What a session shows of itself, again and again: to its observer, and to Ray's metrics."""

import time
from collections.abc import Callable
from pathlib import Path

from engine.actors.gateway import GatewayState
from engine.best_so_far import BestSoFar
from engine.budget_left import BudgetLeft
from engine.config import CampaignConfig
from engine.searching import describe_search
from engine.snapshot import DispatcherState, IslandState, Phase, Snapshot
from engine.steering import Steering
from engine.store.replay import Replay
from evaluators.tasks.task import Task

Observer = Callable[[Snapshot], None]


class SessionView:
    """What the session came to know stands in attributes: see Snapshot; show() adds the rest."""

    def __init__(
        self,
        config: CampaignConfig,
        task: Task,
        run_dir: Path,
        before: Replay | None,
        *,
        observer: Observer | None,
        devices: int,
        left: BudgetLeft,
        steering: Steering,
    ) -> None:
        """before: what the store holds of earlier sessions; devices: how many there are."""
        self._config, self._run_dir, self._devices = config, run_dir, devices
        self._left, self._steering = left, steering
        self._searching = describe_search(config, task)
        self._earlier_s = before.elapsed_s if before else 0.0
        self._began = time.monotonic()
        self._observers = [observer]
        self.best = BestSoFar(run_dir)
        self.doing = ""
        self.device = ""
        self.forecast = ""
        self.trouble = self.copy_trouble = self.not_kept = ""
        self.tracking_page = ""
        self.refused: tuple[str, ...] = ()
        self.too_small: tuple[str, ...] = ()
        self.calls: GatewayState | None = None

    def add(self, observer: Observer | None) -> None:
        """One more from now on; None: there is none."""
        self._observers.append(observer)

    def show(
        self, phase: Phase, dispatcher: DispatcherState, islands: tuple[IslandState, ...]
    ) -> None:
        self.best.look(dispatcher.best)
        session_s = time.monotonic() - self._began
        snapshot = Snapshot(
            campaign=self._config.name,
            run_dir=str(self._run_dir),
            phase=phase,
            doing=self.doing,
            elapsed_s=self._earlier_s + session_s,
            session_s=session_s,
            devices=self._devices,
            device=self.device,
            dispatcher=dispatcher,
            islands=islands,
            evaluations_left=self._left.evaluations(dispatcher),
            seconds_left=self._left.seconds(),
            tracking_trouble=self.trouble,
            copy_trouble=self.copy_trouble,
            not_kept=self.not_kept,
            tracking_page=self.tracking_page,
            findings_refused=self.refused,
            too_small=self.too_small,
            calls=self.calls.spending if self.calls else None,
            outages=self.calls.outages if self.calls else (),
            call_budget=self._config.budgets.of_calls,
            searching=self._searching,
            forecast=self.forecast,
            improvements=tuple(self.best.improvements),
            paused_since=self._steering.paused_since,
        )
        for observer in filter(None, self._observers):
            observer(snapshot)
