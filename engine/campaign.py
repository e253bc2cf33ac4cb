"""A campaign: start it, watch it, stop it, resume it."""

import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine.actors.campaign_actors import CampaignActors, answer, ended
from engine.actors.cluster import fitted, layout, ray_session
from engine.actors.gateway import GatewayState, look_at_endpoints
from engine.actors.lifeline import Driver
from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.dispatch.workbench import BackendWorkbench, Workbench
from engine.ending import CampaignFailed, Stop
from engine.preparation import (
    campaign_started,
    refuse_changed,
    refuse_spent,
    session_started,
    settled,
    stored_config,
    task_of,
)
from engine.searching import SPENT, describe_search, require_search, why_ended
from engine.snapshot import NOTHING_YET, DispatcherState, IslandState, Phase, Snapshot
from engine.store.replay import Replay, replay
from engine.store.run_folder import STORE, begin_store, discard_store
from engine.store.sessions import SearchEnded, SearchStarted, SessionFinished
from engine.store.store import find_source
from engine.store.summary import Summary, write_best, write_results
from evaluators.tasks.task import Task
from operators.individual import Candidate

LOOK_EVERY_S = 0.25

Observer = Callable[[Snapshot], None]


def run_campaign(
    config: CampaignConfig,
    *,
    observer: Observer | None = None,
    workbench: Workbench | None = None,
) -> Summary:
    """Run a new campaign to its end, in runs_dir/<name>.

    observer gets a Snapshot at the start, a few times a second, and at the end. workbench:
    the backend's own unless given. Raises ConfigError, TaskError, BackendMissing,
    CampaignFailed: one sentence each.
    """
    config = settled(config)
    task = task_of(config)
    require_search(config, task)  # a refusal comes before anything starts
    run_dir = config.runs_dir / config.name
    if (run_dir / STORE).exists():
        raise ConfigError(
            f"{run_dir}: a campaign of this name exists; continue it with "
            f"'kernel-scientist resume {run_dir}', or choose another name"
        )
    config = fitted(config)
    session = _Session(config, task, observer=observer, workbench=workbench, before=None)
    return session.run()


def resume_campaign(
    run_dir: Path,
    *,
    observer: Observer | None = None,
    budgets: Mapping[str, Any] | None = None,
    workbench: Workbench | None = None,
) -> Summary:
    """Go on with a stored campaign: no finished evaluation is repeated.

    budgets: keys of the section budgets to change. Raises StoreError and what run_campaign
    raises.
    """
    run_dir = run_dir.resolve()
    before = replay(run_dir / STORE)
    config = stored_config(before, run_dir, budgets or {})
    refuse_spent(before, config, run_dir)
    task = task_of(config)
    refuse_changed(before, config, task, run_dir)
    session = _Session(config, task, observer=observer, workbench=workbench, before=before)
    return session.run()


class _Session:
    """One process life of a campaign."""

    def __init__(
        self,
        config: CampaignConfig,
        task: Task,
        *,
        observer: Observer | None,
        workbench: Workbench | None,
        before: Replay | None,
    ) -> None:
        """before: what the store holds of earlier sessions."""
        self._config, self._task, self._before = config, task, before
        self._observer = observer
        self._workbench = workbench or BackendWorkbench(
            task=config.task, backend=config.backend, secret=secrets.randbits(64)
        )
        self.run_dir = config.runs_dir / config.name
        self._number = len(before.sessions) if before else 0
        self._earlier_s = before.elapsed_s if before else 0.0
        self._searched_s = before.searched_s if before else 0.0  # by earlier sessions
        self._search_began: float | None = None
        self._began, self._began_at = time.monotonic(), time.time()
        self._copied = self._began
        self._stop = Stop()
        self._plan = layout(config)
        self._device = ""
        self._announced = ""
        self._searching = describe_search(config, task)
        self._trouble = ""
        self._doing = ""
        self._calls: GatewayState | None = None

    def run(self) -> Summary:
        with self._stop.on_signals():
            if self._config.llm is not None and self._config.asks_models:
                look_at_endpoints(self._config.llm)
            if not self._before:
                begin_store(self.run_dir, campaign_started(self._config, self._task))
            self._start("starting Ray")
            try:
                with ray_session(self._config, self._plan) as driver:
                    self._stop.listen()
                    return self._in_ray(driver)
            except Exception:
                if not self._before and not self._device:  # it never came to a session
                    discard_store(self.run_dir)
                raise

    def _in_ray(self, driver: Driver) -> Summary:
        self._start("starting the campaign's processes")
        actors = CampaignActors(
            self._config, self._plan, self._workbench, driver, self.run_dir / STORE
        )
        if self._before:  # a killed session's writer stored on until it gave the lock away
            self._before = replay(self.run_dir / STORE)
        try:
            self._begin(actors)
            reason = self._search(actors)
            actors.append(SearchEnded(number=self._number, reason=reason))
            self._measure_again(actors)
        except CampaignFailed as error:
            actors.append(SessionFinished(number=self._number, reason=f"failed: {error}"))
            raise
        actors.append(SessionFinished(number=self._number, reason=reason))
        summary = write_results(replay(self.run_dir / STORE), self.run_dir)
        self._stop.searching = False
        self._finish(actors)
        return summary

    def _finish(self, actors: CampaignActors) -> None:
        """Everything is stored: a Ctrl-C from here on cuts short what it waits for."""
        try:
            states = actors.states()
            if self._config.tracking_uri is not None:
                self._doing = "telling MLflow the rest"
                self._show("stopping", *states)
            self._trouble = actors.finish_tracking()
            self._doing = "ending Ray"
            self._show("finished", *states)
            actors.close()
        except KeyboardInterrupt:
            self._trouble = self._trouble or "it was cut short by Ctrl-C"

    def _start(self, doing: str) -> None:
        self._doing = doing
        self._show("starting", NOTHING_YET, ())

    def _begin(self, actors: CampaignActors) -> None:
        self._start(f"opening the device{'s' * (len(self._plan.devices) > 1)}")
        info, *others = actors.devices()
        self._device = info.name
        actors.append(
            session_started(
                self._config,
                (info, *others),
                self._before,
                number=self._number,
                began_at=self._began_at,
                devices=len(self._plan.devices),
            )
        )
        self._start("bringing the population back" if self._before else "measuring the naive seed")
        naive = Candidate.from_source(self._task.naive)
        actors.begin(info, self._number, naive, self._before)

    def _search(self, actors: CampaignActors) -> str:
        """Until the islands have ended; returns why they did."""
        self._stop.searching = True
        actors.append(SearchStarted(number=self._number))
        self._search_began = time.monotonic()
        self._doing = ""
        runs = actors.start()
        stopping = False
        while not ended(runs, timeout_s=LOOK_EVERY_S):
            if not self._stop.reason and self._seconds_left() == 0:
                self._stop.reason = "the wall time is spent"
            if self._stop.reason and not stopping:
                actors.stop(self._stop.reason)
                stopping = True
            dispatcher, islands = actors.states()
            self._look_at_calls(actors, dispatcher)
            self._show("stopping" if stopping else "running", dispatcher, islands)
            self._announce(dispatcher)
            self._trouble = actors.track()
            if time.monotonic() - self._copied >= self._config.snapshots.every_s:
                self._copied = time.monotonic()
                self._trouble = actors.copy_store() or self._trouble
        dispatcher, _ = actors.states()
        self._look_at_calls(actors, dispatcher)
        actors.drain()
        dispatcher, _ = actors.states()
        return self._stop.reason or why_ended(
            answer(runs), self._config, self._task, self._left(dispatcher)
        )

    def _measure_again(self, actors: CampaignActors) -> None:
        """What was found, in sittings apart. A Ctrl-C meanwhile leaves that to a resumption."""
        self._doing = "measuring the best again"
        measured = actors.finish()
        try:
            self._stop.searching = False
            self._show("stopping", *actors.states())
            while not ended([measured], timeout_s=LOOK_EVERY_S):
                self._show("stopping", *actors.states())
        except KeyboardInterrupt:
            self._trouble = "the best was not measured again, as Ctrl-C cut that short"
        self._stop.searching = True

    def _look_at_calls(self, actors: CampaignActors, dispatcher: DispatcherState) -> None:
        """Models that answer no more end a campaign, and one that is full asks them no more."""
        calls = self._calls = actors.calls()
        if calls is None:
            return
        if calls.over:
            self._stop.reason = self._stop.reason or calls.over
        elif self._left(dispatcher) == 0:
            actors.stop_asking(SPENT)

    def _announce(self, dispatcher: DispatcherState) -> None:
        """Keep best.hip up to date, so that a kill leaves the best kernel behind."""
        best = dispatcher.best
        if best is not None and best.kernel_id != self._announced:
            source = find_source(self.run_dir / STORE, best.kernel_id)
            if source is not None:  # the seed's draft may come a little after its evaluation
                write_best(source, self.run_dir)
                self._announced = best.kernel_id

    def _left(self, dispatcher: DispatcherState) -> int | None:
        budget = self._config.budgets.evaluations
        done = sum(dispatcher.by_status.values()) - dispatcher.tuned
        return None if budget is None else max(0, budget - done)

    def _seconds_left(self) -> float | None:
        budget = self._config.budgets.wall_time_s
        if budget is None:
            return None
        began, now = self._search_began, time.monotonic()
        searched_s = self._searched_s + (now - began if began is not None else 0.0)
        return max(0.0, budget - searched_s)

    def _show(
        self, phase: Phase, dispatcher: DispatcherState, islands: tuple[IslandState, ...]
    ) -> None:
        if self._observer is None:
            return
        session_s = time.monotonic() - self._began
        self._observer(
            Snapshot(
                campaign=self._config.name,
                run_dir=str(self.run_dir),
                phase=phase,
                doing=self._doing,
                elapsed_s=self._earlier_s + session_s,
                session_s=session_s,
                devices=len(self._plan.devices),
                device=self._device,
                dispatcher=dispatcher,
                islands=islands,
                evaluations_left=self._left(dispatcher),
                seconds_left=self._seconds_left(),
                tracking_trouble=self._trouble,
                calls=self._calls.spending if self._calls else None,
                outages=self._calls.outages if self._calls else (),
                searching=self._searching,
            )
        )
