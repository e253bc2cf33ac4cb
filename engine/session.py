"""One process life of a campaign, from Ray's start to what was found."""

import time
from collections.abc import Sequence
from contextlib import suppress

from engine.actors.answers import answer, ended
from engine.actors.campaign_actors import CampaignActors
from engine.actors.cluster import Site, ray_session
from engine.actors.gateway import look_at_endpoints
from engine.actors.lifeline import Driver
from engine.actors.metrics import metrics_of
from engine.actors.status_file import status_file
from engine.budget_left import BudgetLeft
from engine.config import CampaignConfig
from engine.device_time import DeviceTime
from engine.dispatch.workbench import Workbench
from engine.ending import INTERRUPTED, CampaignFailed, Stop
from engine.forecast.beginning import foretell
from engine.history.history import read_history
from engine.preparation import (
    brought_along,
    campaign_started,
    session_started,
    workbench_of,
)
from engine.searching import SPENT, why_ended
from engine.session_view import Observer, SessionView
from engine.snapshot import NOTHING_YET, DispatcherState
from engine.steering import Steering
from engine.stopping.watch import TargetWatch
from engine.store.kept_task import kept
from engine.store.kinds.findings import Distilled
from engine.store.kinds.sessions import SearchEnded, SearchStarted, SessionFinished
from engine.store.kinds.steering import Injected
from engine.store.replay import Replay, replay
from engine.store.run_folder import STORE, begin_store, discard_store
from engine.store.store import StoreError, driving
from engine.store.summary import Summary, write_results
from engine.store.toolchain import device_class_of
from evaluators.device_info import DeviceInfo
from evaluators.measuring.launch_cost import launching_lines
from evaluators.processes.memory_needs import memory_text
from evaluators.tasks.task import Task
from operators.individual import Candidate

LOOK_EVERY_S = 0.25


class Session:
    """One process life of a campaign."""

    def __init__(
        self,
        config: CampaignConfig,
        task: Task,
        site: Site,
        *,
        observer: Observer | None,
        workbench: Workbench | None,
        before: Replay | None,
        carried: Sequence[Injected] = (),
    ) -> None:
        """before: what the store holds of earlier sessions. carried: what a new campaign begins
        with of another one."""
        self._config, self._task, self._before = config, task, before
        self._workbench = workbench or workbench_of(config, travels=site.cluster)
        self.run_dir = config.runs_dir / config.name
        self._carried = carried
        self._steering = Steering(config, self.run_dir, before, carried=carried)
        self._number = len(before.sessions) if before else 0
        self._began_at = time.time()
        self._stop = Stop()
        self._targets = TargetWatch(config.stop, self.run_dir / STORE)
        self._site = site
        self._device: DeviceInfo | None = None
        self._left = BudgetLeft(config, before, self._steering)
        self._view = SessionView(
            config,
            task,
            self.run_dir,
            before,
            observer=observer,
            devices=len(site.plan.devices),
            left=self._left,
            steering=self._steering,
        )

    def run(self) -> Summary:
        with self._stop.on_signals():
            if self._config.llm is not None and self._config.asks_models:
                look_at_endpoints(self._config.llm)
            if not self._before:
                started = campaign_started(self._config, self._task)
                task, self._view.not_kept = kept(self._config.task)
                begin_store(self.run_dir, started, *self._carried, task=task)
            with driving(self.run_dir / STORE):
                return self._driven()

    def _driven(self) -> Summary:
        self._start("joining the cluster" if self._site.cluster else "starting Ray")
        try:
            session = ray_session(self._config, self._site)
            with session as driver, status_file(self._config) as told:
                self._stop.listen()
                self._view.add(told)
                name, task, backend = self._config.name, self._task.name, self._config.backend
                self._view.add(metrics_of(campaign=name, task=task, backend=backend))
                return self._in_ray(driver)
        except Exception:
            if not self._before and self._device is None:  # it never came to a session
                discard_store(self.run_dir)
            raise

    def _in_ray(self, driver: Driver) -> Summary:
        self._start("starting the campaign's processes")
        actors = CampaignActors(
            self._config, self._site, self._workbench, driver, self.run_dir / STORE
        )
        if self._before:  # a killed session's writer stored on until it gave the lock away
            history = read_history(self.run_dir / STORE)
            self._before = history.replay
            self._view.best.take_up(history)
        try:
            self._begin(actors)
            self._foretell(actors)
            reason = self._search(actors)
            actors.append(SearchEnded(number=self._number, reason=reason))
            self._measure_again(actors)
            self._distil(actors)
        except CampaignFailed as error:
            if self._device is None:  # no session has begun
                raise
            actors.append(SessionFinished(number=self._number, reason=f"failed: {error}"))
            with suppress(OSError, StoreError):
                write_results(replay(self.run_dir / STORE), self.run_dir)
            actors.finish_following()
            actors.copies.finish()
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
            self._view.doing = f"writing the report{' and telling MLflow the rest' * tracked}"
            self._view.show("stopping", *states)
            self._view.trouble = actors.finish_following()
            self._view.tracking_page = actors.tracking_page
            self._view.copy_trouble = actors.copies.finish()
            self._view.doing = "ending Ray"
            self._view.show("finished", *states)
            actors.close()
        except KeyboardInterrupt:
            self._view.trouble = self._view.trouble or "it was cut short by Ctrl-C"

    def _start(self, doing: str) -> None:
        self._view.doing = doing
        self._view.show("starting", NOTHING_YET, ())

    def _begin(self, actors: CampaignActors) -> None:
        self._start(self._opening())
        naive = Candidate.from_source(self._task.naive)
        info, *others = actors.devices(naive, self._class_before())
        self._device, self._view.device = info, info.name
        actors.append(
            session_started(
                self._config,
                (info, *others),
                self._before,
                number=self._number,
                began_at=self._began_at,
                devices=1 + len(others) if self._site.cluster else len(self._site.plan.devices),
            )
        )
        needs = memory_text(self._task, self._config.backend, info) if info.timed else ""
        first = "bringing the population back" if self._before else "measuring the naive seed"
        self._start("; ".join(filter(None, (first, needs))))
        brought = self._brought(actors, info)
        self._view.copy_trouble = actors.copies.look()  # it needs nothing else from here on
        seed = actors.begin(info, self._number, naive, self._before, brought)
        self._view.too_small = (
            *launching_lines(seed.launching_us, seed.times_us),
            *_slow_seed(seed.seconds.get("device", 0.0)),
        )
        if lack := self._targets.lack():
            raise CampaignFailed(lack)

    def _opening(self) -> str:
        many = len(self._site.plan.devices) > 1
        doing = f"opening the device{'s' * many}"
        if not self._site.cluster:
            return doing
        return f"{doing} of the cluster's nodes" if self._site.plan.devices else "waiting for nodes"

    def _class_before(self) -> str:
        """That of the devices of earlier sessions; empty where there are none."""
        sessions = self._before.sessions if self._before else []
        return device_class_of(sessions[-1].started) if sessions else ""

    def _foretell(self, actors: CampaignActors) -> None:
        """What the budgets will buy, before the first call of a model."""
        if not self._config.asks_models or self._device is None:
            return
        made = foretell(self._config, self._task, self._device, self._before)
        self._view.forecast = made.sentence
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
        self._view.refused = brought.refused if brought else ()
        return brought

    def _search(self, actors: CampaignActors) -> str:
        """Until the islands have ended; returns why they did."""
        self._stop.searching = True
        actors.append(SearchStarted(number=self._number))
        self._left.begin_search()
        self._view.doing = ""
        dispatcher, _ = actors.states()
        devices = DeviceTime(self._number, dispatcher)
        self._steering.begin(actors)
        self._stop.reason = self._stop.reason or self._targets.look(dispatcher.contesting)
        if stopping := bool(self._stop.reason):
            actors.stop(self._stop.reason)  # as after a kill in the last measurement
            self._steering.end(actors)
        runs = actors.start()
        while not ended(runs, timeout_s=LOOK_EVERY_S):
            if not self._stop.reason and self._left.seconds() == 0:
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
            self._view.show("stopping" if stopping else "running", dispatcher, islands)
            self._follow(actors)
        dispatcher, _ = actors.states()
        self._look_at_calls(actors, dispatcher)
        self._view.doing = "finishing what is under way"
        self._view.show("stopping", *actors.states())
        actors.drain()
        dispatcher, _ = actors.states()
        actors.append(devices.tell(dispatcher))
        return self._stop.reason or why_ended(
            answer(runs), self._config, self._task, self._left.evaluations(dispatcher)
        )

    def _follow(self, actors: CampaignActors) -> None:
        """MLflow and the report are told what is new, and now and then the store is copied."""
        self._view.trouble = actors.follow() or self._steering.trouble
        self._view.tracking_page = actors.tracking_page
        self._view.copy_trouble = actors.copies.look()

    def _measure_again(self, actors: CampaignActors) -> None:
        """What was found, in sittings apart. A Ctrl-C meanwhile leaves that to a resumption."""
        last = "measuring the best again"
        timed = self._device is None or self._device.timed
        measures = timed and self._config.final.seconds
        self._view.doing = last if measures else "deciding which is the best"
        measured = actors.finish()
        try:
            self._stop.searching = False
            self._view.show("stopping", *actors.states())
            while not ended([measured], timeout_s=LOOK_EVERY_S):
                self._view.copy_trouble = actors.copies.look()
                self._view.show("stopping", *actors.states())
        except KeyboardInterrupt:
            self._view.trouble = "the best was not measured again, as Ctrl-C cut that short"
        self._stop.searching = True

    def _distil(self, actors: CampaignActors) -> None:
        """Findings of all that was measured, if anything was timed. After a Ctrl-C no model is
        asked."""
        if self._device is not None and not self._device.timed:
            self._view.calls = actors.calls()
            return
        self._view.doing = "distilling findings"
        try:
            self._stop.searching = False
            self._view.show("stopping", *actors.states())
            asked = self._stop.reason != INTERRUPTED
            self._view.trouble = actors.distil(ask=asked) or self._view.trouble
        except KeyboardInterrupt:
            self._view.trouble = "the last findings were not distilled, as Ctrl-C cut that short"
        self._stop.searching = True
        self._view.calls = actors.calls()

    def _look_at_calls(self, actors: CampaignActors, dispatcher: DispatcherState) -> None:
        """Models that answer no more end a campaign, and one that is full asks them no more."""
        calls = self._view.calls = actors.calls()
        if calls is None:
            return
        if calls.over:
            self._stop.reason = self._stop.reason or calls.over
        elif self._left.evaluations(dispatcher) == 0:
            actors.stop_asking(SPENT)

    @property
    def _models_asked(self) -> bool:
        return self._view.calls is not None and self._view.calls.spending.in_flight > 0


SLOW_S = 10.0


def _slow_seed(device_s: float) -> tuple[str, ...]:
    """A word on how long evaluations take, where that is long."""
    if device_s < SLOW_S:
        return ()
    return (
        f"checking and timing the naive seed took {device_s:.0f} s; kernels as slow take as long, "
        "and so does each sitting beside it",
    )
