"""A campaign: start it, watch it, stop it, resume it."""

import platform
import secrets
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from engine.asking import look_at_endpoints
from engine.cluster import fitted, layout, ray_session
from engine.config import CampaignConfig, ConfigError, parse_config
from engine.crew import Crew, answer, ended
from engine.dispatcher import CampaignFailed
from engine.events import CampaignStarted, SessionFinished, SessionStarted
from engine.island import EXHAUSTED
from engine.ledger import Spending
from engine.replay import Replay, replay
from engine.searching import describe_search, require_search, why_ended
from engine.snapshot import NOTHING_YET, DispatcherState, IslandState, Phase, Snapshot, Summary
from engine.stop import Stop
from engine.store import find_source
from engine.summary import summarise, write_best, write_summary
from engine.toolchain import device_class_of, toolchain_here
from engine.workbench import BackendWorkbench, Workbench
from evaluators.kernel import kernel_id
from evaluators.seed_check import check_seeds
from evaluators.task import Task, load_task
from operators.individual import Candidate

LOOK_EVERY_S = 0.25
STORE = "store.sqlite"

SPENT = "the evaluations are spent"

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
    config = _settled(config)
    task = load_task(config.task)
    check_seeds(task, config.backend)
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
    values = dict(before.campaign.config)
    values |= {"name": run_dir.name, "runs_dir": str(run_dir.parent)}
    values["budgets"] = {**before.budgets, **(budgets or {})}
    changed = " ".join(f"budgets.{key}={value}" for key, value in (budgets or {}).items())
    config = parse_config(values, where=repr(changed) if changed else str(run_dir / STORE))
    task = load_task(config.task)
    if task.hash != before.campaign.task_hash:
        raise ConfigError(
            f"{run_dir}: the task {config.task} has changed since this campaign started; "
            "start a new campaign"
        )
    session = _Session(config, task, observer=observer, workbench=workbench, before=before)
    return session.run()


def _settled(config: CampaignConfig) -> CampaignConfig:
    """With a name, and with paths that hold from any folder."""
    changes: dict[str, Any] = {"runs_dir": config.runs_dir.resolve()}
    if config.snapshots.folder is not None:
        folder = config.snapshots.folder.resolve()
        if not folder.is_dir():
            raise ConfigError(f"snapshots.folder: {folder} is no folder; make it first")
        changes["snapshots"] = config.snapshots.model_copy(update={"folder": folder})
    task = Path(config.task)
    if (task / "task.yaml").is_file():
        changes["task"] = str(task.resolve())
    if not config.name:
        changes["name"] = f"{task.resolve().name}-{datetime.now():%Y%m%d-%H%M%S}"
    return config.model_copy(update=changes)


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
        self._began, self._began_at = time.monotonic(), time.time()
        self._copied = self._began
        self._stop = Stop()
        self._plan = layout(config)
        self._device = ""
        self._announced = ""
        self._searching = describe_search(config, task)
        self._trouble = ""
        self._calls: Spending | None = None

    def run(self) -> Summary:
        if self._config.llm is not None and self._config.asks_models:
            look_at_endpoints(self._config.llm)
        self.run_dir.mkdir(parents=True, exist_ok=True)
        self._show("starting", NOTHING_YET, ())
        with ray_session(self._config, self._plan) as driver, self._stop.on_signals():
            store = self.run_dir / STORE
            crew = Crew(self._config, self._plan, self._workbench, driver, store)
            try:
                self._begin(crew)
                reason = self._watch(crew)
            except CampaignFailed as error:
                crew.append(SessionFinished(number=self._number, reason=f"failed: {error}"))
                raise
            crew.append(SessionFinished(number=self._number, reason=reason))
            summary = self._conclude()
            self._trouble = crew.finish_tracking()
            self._show("finished", *crew.states())
            crew.close()
        return summary

    def _begin(self, crew: Crew) -> None:
        info, *others = crew.devices()
        classes = {one.device_class for one in (info, *others)}
        if self._before:
            classes |= {device_class_of(session.started) for session in self._before.sessions}
        if len(classes) > 1:
            raise CampaignFailed(
                f"times of different devices can't be compared: {' and '.join(sorted(classes))}; "
                "choose devices of one kind by devices.ids, or start a new campaign"
            )
        baseline, toolchain = Candidate.from_source(self._task.naive), toolchain_here(info)
        self._device = info.name
        if not self._before:
            crew.append(
                CampaignStarted(
                    config=self._config.model_dump(mode="json"),
                    task_hash=self._task.hash,
                    baseline_id=kernel_id(baseline.source),
                    versions=_versions(),
                )
            )
        crew.append(
            SessionStarted(
                number=self._number,
                began_at=self._began_at,
                budgets=self._config.budgets.model_dump(mode="json"),
                device=info.name,
                device_class=info.device_class,
                devices=len(self._plan.devices),
                harness=toolchain.harness,
                compiler=toolchain.compiler,
            )
        )
        crew.begin(info, self._number, baseline, self._before)

    def _watch(self, crew: Crew) -> str:
        """Until the islands have ended; returns why they did."""
        runs = crew.start()
        stopping = False
        while not ended(runs, timeout_s=LOOK_EVERY_S):
            if not self._stop.reason and self._seconds_left() == 0:
                self._stop.reason = "the wall time is spent"
            if self._stop.reason and not stopping:
                crew.stop(self._stop.reason)
                stopping = True
            dispatcher, islands = crew.states()
            self._look_at_calls(crew, dispatcher)
            self._show("stopping" if stopping else "running", dispatcher, islands)
            self._announce(dispatcher)
            self._trouble = crew.track()
            if time.monotonic() - self._copied >= self._config.snapshots.every_s:
                self._copied = time.monotonic()
                self._trouble = crew.copy_store() or self._trouble
        dispatcher, _ = crew.states()
        self._look_at_calls(crew, dispatcher)
        crew.drain()
        dispatcher, _ = crew.states()
        self._announce(dispatcher)
        if self._stop.reason:
            return self._stop.reason
        endings: list[str] = answer(runs)
        if self._left(dispatcher) == 0 and set(endings) != {EXHAUSTED}:
            return SPENT
        return why_ended(endings, self._config, self._task)

    def _look_at_calls(self, crew: Crew, dispatcher: DispatcherState) -> None:
        """Models that answer no more end a campaign, and one that is full asks them no more."""
        calls = crew.calls()
        if calls is None:
            return
        self._calls = calls.spending
        if calls.over:
            self._stop.reason = self._stop.reason or calls.over
        elif self._left(dispatcher) == 0:
            crew.stop_asking(SPENT)

    def _announce(self, dispatcher: DispatcherState) -> None:
        """Keep best.hip up to date, so that a kill leaves the best kernel behind."""
        best = dispatcher.best
        if best is not None and best.kernel_id != self._announced:
            source = find_source(self.run_dir / STORE, best.kernel_id)
            if source is not None:  # the seed's draft may come a little after its evaluation
                write_best(source, self.run_dir)
                self._announced = best.kernel_id

    def _conclude(self) -> Summary:
        whole = replay(self.run_dir / STORE)
        summary = summarise(whole, self.run_dir)
        write_summary(summary, self.run_dir)
        return summary

    def _left(self, dispatcher: DispatcherState) -> int | None:
        budget = self._config.budgets.evaluations
        spent = sum(dispatcher.by_status.values())
        return None if budget is None else max(0, budget - spent)

    def _seconds_left(self) -> float | None:
        budget = self._config.budgets.wall_time_s
        spent = self._earlier_s + time.monotonic() - self._began
        return None if budget is None else max(0.0, budget - spent)

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
                elapsed_s=self._earlier_s + session_s,
                session_s=session_s,
                devices=len(self._plan.devices),
                device=self._device,
                dispatcher=dispatcher,
                islands=islands,
                evaluations_left=self._left(dispatcher),
                seconds_left=self._seconds_left(),
                tracking_trouble=self._trouble,
                calls=self._calls,
                searching=self._searching,
            )
        )


def _versions() -> dict[str, str]:
    packages = ("kernel-scientist", "ray", "numpy")
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "run from its files"
