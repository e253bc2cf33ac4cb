"""One process life of a campaign, from Ray's start to what was found."""

import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from engine.actors.answers import answer, ended
from engine.actors.campaign_actors import CampaignActors
from engine.actors.cluster import layout, ray_session
from engine.actors.gateway import GatewayState, look_at_endpoints
from engine.actors.lifeline import Driver
from engine.actors.metrics import metrics_of
from engine.config import CampaignConfig
from engine.device_time import DeviceTime
from engine.dispatch.workbench import BackendWorkbench, Workbench
from engine.ending import INTERRUPTED, CampaignFailed, Stop
from engine.forecast.beginning import foretell
from engine.history.history import read_history
from engine.history.improvements import improvement, improvements
from engine.preparation import brought_along, campaign_started, session_started
from engine.searching import SPENT, describe_search, why_ended
from engine.snapshot import NOTHING_YET, DispatcherState, Improvement, IslandState, Phase, Snapshot
from engine.steering import Steering
from engine.stopping.watch import TargetWatch
from engine.store.kinds.findings import Distilled
from engine.store.kinds.sessions import SearchEnded, SearchStarted, SessionFinished
from engine.store.kinds.steering import Injected
from engine.store.replay import Replay, replay
from engine.store.run_folder import STORE, begin_store, discard_store
from engine.store.scoreboard import Best
from engine.store.store import StoreError, driving, find_draft
from engine.store.summary import Summary, write_best, write_results
from evaluators.device_info import DeviceInfo
from evaluators.tasks.task import Task
from operators.individual import Candidate

LOOK_EVERY_S = 0.25
IMPROVEMENTS_KEPT = 3

Observer = Callable[[Snapshot], None]


class Session:
    """One process life of a campaign."""

    def __init__(
        self,
        config: CampaignConfig,
        task: Task,
        *,
        observer: Observer | None,
        workbench: Workbench | None,
        before: Replay | None,
        carried: Sequence[Injected] = (),
    ) -> None:
        """before: what the store holds of earlier sessions. carried: what a new campaign begins
        with of another one."""
        self._config, self._task, self._before = config, task, before
        self._observer = observer
        self._metrics: Observer | None = None  # once Ray is there
        self._workbench = workbench or BackendWorkbench(
            task=config.task, backend=config.backend, secret=secrets.randbits(64)
        )
        self.run_dir = config.runs_dir / config.name
        self._carried = carried
        self._steering = Steering(config, self.run_dir, before, carried=carried)
        self._number = len(before.sessions) if before else 0
        self._earlier_s = before.elapsed_s if before else 0.0
        self._searched_s = before.searched_s if before else 0.0  # by earlier sessions
        self._search_began: float | None = None
        self._began, self._began_at = time.monotonic(), time.time()
        self._copied = self._began
        self._stop = Stop()
        self._targets = TargetWatch(config.stop, self.run_dir / STORE)
        self._plan = layout(config)
        self._device = ""
        self._device_info: DeviceInfo | None = None
        self._forecast = ""
        self._announced = ""
        self._best: Best | None = None
        self._improvements: deque[Improvement] = deque(maxlen=IMPROVEMENTS_KEPT)
        self._searching = describe_search(config, task)
        self._trouble = ""
        self._refused: tuple[str, ...] = ()
        self._tracking_page = ""
        self._doing = ""
        self._calls: GatewayState | None = None

    def run(self) -> Summary:
        with self._stop.on_signals():
            if self._config.llm is not None and self._config.asks_models:
                look_at_endpoints(self._config.llm)
            if not self._before:
                started = campaign_started(self._config, self._task)
                begin_store(self.run_dir, started, *self._carried)
            with driving(self.run_dir / STORE):
                return self._driven()

    def _driven(self) -> Summary:
        self._start("starting Ray")
        try:
            with ray_session(self._config, self._plan) as driver:
                self._stop.listen()
                self._metrics = metrics_of(
                    campaign=self._config.name, task=self._task.name, backend=self._config.backend
                )
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
            history = read_history(self.run_dir / STORE)
            self._before, self._best = history.replay, history.replay.scores.best
            self._improvements.extend(improvements(history))
        try:
            self._begin(actors)
            self._foretell(actors)
            reason = self._search(actors)
            actors.append(SearchEnded(number=self._number, reason=reason))
            self._measure_again(actors)
            self._distil(actors)
        except CampaignFailed as error:
            actors.append(SessionFinished(number=self._number, reason=f"failed: {error}"))
            with suppress(OSError, StoreError):
                write_results(replay(self.run_dir / STORE), self.run_dir)
            actors.finish_following()
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
            tracked = self._config.tracking_uri is not None
            self._doing = f"writing the report{' and telling MLflow the rest' * tracked}"
            self._show("stopping", *states)
            self._trouble = actors.finish_following()
            self._tracking_page = actors.tracking_page
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
        self._device, self._device_info = info.name, info
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
        brought = self._brought(actors, info)
        actors.begin(info, self._number, naive, self._before, brought)
        if lack := self._targets.lack():
            raise CampaignFailed(lack)

    def _foretell(self, actors: CampaignActors) -> None:
        """What the budgets will buy, before the first call of a model."""
        if not self._config.asks_models or self._device_info is None:
            return
        made = foretell(self._config, self._task, self._device_info, self._before)
        self._forecast = made.sentence
        actors.append(made.event(self._number))
        self._start("starting the search")

    def _brought(self, actors: CampaignActors, info: DeviceInfo) -> Distilled | None:
        """What came along from other campaigns: read once, and stored before anybody knows it."""
        brought = self._before.brought if self._before else None
        begun = self._before is not None and bool(self._before.scores.evaluations)
        if brought is None and not begun:
            brought = brought_along(self._config, self._task, info)
            if brought is not None:
                actors.append(brought)
        self._refused = brought.refused if brought else ()
        return brought

    def _search(self, actors: CampaignActors) -> str:
        """Until the islands have ended; returns why they did."""
        self._stop.searching = True
        actors.append(SearchStarted(number=self._number))
        self._search_began = time.monotonic()
        self._doing = ""
        dispatcher, _ = actors.states()
        devices = DeviceTime(self._number, len(self._plan.devices), dispatcher)
        self._steering.begin(actors)
        self._stop.reason = self._stop.reason or self._targets.look(dispatcher.contesting)
        if stopping := bool(self._stop.reason):
            actors.stop(self._stop.reason)  # as after a kill in the last measurement
            self._steering.end(actors)
        runs = actors.start()
        while not ended(runs, timeout_s=LOOK_EVERY_S):
            if not self._stop.reason and self._seconds_left() == 0:
                self._stop.reason = "the wall time is spent"
            if self._stop.reason and not stopping:
                actors.stop(self._stop.reason)
                self._steering.end(actors)
                stopping = True
            if not stopping:
                self._steering.look(actors)
            dispatcher, islands = actors.states()
            self._look_at_calls(actors, dispatcher)
            self._stop.reason = self._stop.reason or self._targets.look(dispatcher.contesting)
            paused = self._steering.paused_since is not None
            devices.look(dispatcher, models_asked=self._models_asked, paused=paused)
            if devices.due:
                actors.append(devices.tell(dispatcher))
            self._show("stopping" if stopping else "running", dispatcher, islands)
            self._trouble = actors.follow() or self._steering.trouble
            self._tracking_page = actors.tracking_page
            if time.monotonic() - self._copied >= self._config.snapshots.every_s:
                self._copied = time.monotonic()
                self._trouble = actors.copy_store() or self._trouble
        dispatcher, _ = actors.states()
        self._look_at_calls(actors, dispatcher)
        actors.drain()
        dispatcher, _ = actors.states()
        actors.append(devices.tell(dispatcher))
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

    def _distil(self, actors: CampaignActors) -> None:
        """Findings of all that was measured. After a Ctrl-C no model is asked."""
        self._doing = "distilling findings"
        try:
            self._stop.searching = False
            self._show("stopping", *actors.states())
            asked = self._stop.reason != INTERRUPTED
            self._trouble = actors.distil(ask=asked) or self._trouble
        except KeyboardInterrupt:
            self._trouble = "the last findings were not distilled, as Ctrl-C cut that short"
        self._stop.searching = True
        self._calls = actors.calls()

    def _look_at_calls(self, actors: CampaignActors, dispatcher: DispatcherState) -> None:
        """Models that answer no more end a campaign, and one that is full asks them no more."""
        calls = self._calls = actors.calls()
        if calls is None:
            return
        if calls.over:
            self._stop.reason = self._stop.reason or calls.over
        elif self._left(dispatcher) == 0:
            actors.stop_asking(SPENT)

    @property
    def _models_asked(self) -> bool:
        return self._calls is not None and self._calls.spending.in_flight > 0

    def _announce(self, dispatcher: DispatcherState) -> None:
        """Keep best.hip up to date, so that a kill leaves the best kernel behind."""
        best = dispatcher.best
        if best is None or best.kernel_id == self._announced:
            return
        drafted = find_draft(self.run_dir / STORE, best.kernel_id)
        if drafted is None:
            return  # the seed's draft may come a little after its evaluation
        write_best(drafted.candidate.source, self.run_dir)
        step = improvement(self._best, best, drafted, at=time.time())
        if step is not None:
            self._improvements.append(step)
        self._best, self._announced = best, best.kernel_id

    def _left(self, dispatcher: DispatcherState) -> int | None:
        budget = self._config.budgets.evaluations
        done = sum(dispatcher.by_status.values()) - dispatcher.tuned
        return None if budget is None else max(0, budget - done)

    def _seconds_left(self) -> float | None:
        budget = self._config.budgets.wall_time_s
        if budget is None:
            return None
        began, now = self._search_began, time.monotonic()
        searched_s = now - began - self._steering.rested_s if began is not None else 0.0
        return max(0.0, budget - self._searched_s - searched_s)

    def _show(
        self, phase: Phase, dispatcher: DispatcherState, islands: tuple[IslandState, ...]
    ) -> None:
        self._announce(dispatcher)
        session_s = time.monotonic() - self._began
        snapshot = Snapshot(
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
            tracking_page=self._tracking_page,
            findings_refused=self._refused,
            calls=self._calls.spending if self._calls else None,
            outages=self._calls.outages if self._calls else (),
            call_budget=self._config.budgets.of_calls,
            searching=self._searching,
            forecast=self._forecast,
            improvements=tuple(self._improvements),
            paused_since=self._steering.paused_since,
        )
        for observer in filter(None, (self._observer, self._metrics)):
            observer(snapshot)
