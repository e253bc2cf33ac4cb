"""Throughput of a whole campaign, of the bare loop, and of a campaign whose evaluator is killed."""

import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from engine.actors.layout import layout
from engine.campaign import run_campaign
from engine.config import BackendChoice, CampaignConfig, parse_config
from engine.dispatch.workbench import Workbench
from engine.ending import CampaignFailed
from engine.snapshot import Snapshot
from engine.store.events import Drafted, EpochStarted, Evaluated
from engine.store.run_folder import STORE
from engine.store.store import read_events
from evaluators.tasks.task_file import load_task
from scripts.lib.bare_loop import AT_LEAST, Done, Window, bare_loop
from scripts.lib.cores import CoresUsed

PATIENCE_S = 1200.0
"""For everything before the first candidate is evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What all arms have in common. compile_workers: for each device; llm: a model's candidates
    alone, none by searching the spaces that it writes, and operators by fixed weights: a mutation
    waits for no model, so a mix that shifts would change the rate.

    warm_up_s: left out at the beginning of every arm, while processes start and compile.
    """

    task: Path
    backend: BackendChoice
    compile_workers: int
    operators: Literal["random", "catalog", "llm"] = "random"
    warm_up_s: float = 5.0
    endpoint: str = ""  # of a model, for operators that ask one


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One arm's result. rates are per hour, busy is a share, latencies are p50 and p95 in ms.

    seconds: as many as were asked for, or more where the machine was too slow for a rate.
    """

    path: Literal["campaign", "bare loop"]
    devices: int
    device: str
    compile_workers: int
    seconds: float
    candidates: int
    candidates_per_hour: float
    busy: float
    by_status: Mapping[str, int]
    device_ms: float  # mean of those that were measured
    latencies_ms: Mapping[str, tuple[float, float]]
    bound: str = ""
    cores: Mapping[str, float] = field(default_factory=dict)  # of whole campaigns, by process
    sources: tuple[str, ...] = field(default=(), repr=False)  # in the order of their evaluations


def campaign_arm(
    setting: Setting,
    workbench: Workbench,
    *,
    devices: int,
    seconds: float,
    observer: Callable[[Snapshot], None] | None = None,
    until: Callable[[], bool] = lambda: True,
) -> Arm:
    """A campaign on the first devices: islands, dispatcher, compile tasks, evaluators, store.

    until: it goes on at least until this holds.
    """
    seen: list[Snapshot] = []
    window = Window(warm_up_s=setting.warm_up_s, seconds=seconds)
    stop = _StopAfter(window, until)

    def observe(snapshot: Snapshot) -> None:
        if snapshot.phase == "running":
            seen.append(snapshot)
        if observer is not None:
            observer(snapshot)
        stop(snapshot)

    with tempfile.TemporaryDirectory() as folder:
        config = _config(setting, devices, Path(folder), seconds)
        used = CoresUsed()
        used.start()
        run_campaign(config, observer=observe, workbench=workbench)
        cores = used.stop()
        events = list(read_events(Path(folder) / config.name / STORE))
    sources = {
        stored.event.kernel_id: stored.event.candidate.source
        for stored in events
        if isinstance(stored.event, Drafted)
    }
    done = [
        Done(at=stored.at, evaluation=stored.event.evaluation)
        for stored in events
        if isinstance(stored.event, Evaluated)
    ][1:]  # the first is the naive seed
    links_s = [
        (stored.at, stored.event.device_s)
        for stored in events
        if isinstance(stored.event, EpochStarted)
    ]
    if not done or not seen:
        raise CampaignFailed(f"no candidate was evaluated within {seconds:g} s; take more")
    last = seen[-1].dispatcher
    return _arm(
        "campaign",
        done,
        links_s,
        devices=devices,
        device=seen[-1].device,
        compile_workers=devices * setting.compile_workers,
        window=window,
        latencies_s=last.latencies_s,
        bound=last.bound,
        cores=cores,
        sources=tuple(sources[one.evaluation.kernel_id] for one in done),
    )


def bare_arm(
    setting: Setting, workbench: Workbench, *, sources: Sequence[str], seconds: float
) -> Arm:
    """The same candidates on the first device, with no engine."""
    with tempfile.TemporaryDirectory() as folder:
        plan = layout(_config(setting, 1, Path(folder), seconds))
    window = Window(warm_up_s=setting.warm_up_s, seconds=seconds)
    loop = bare_loop(
        workbench,
        sources,
        load_task(setting.task).naive,
        device=plan.devices[0],
        workers=plan.compile_workers,
        cores=plan.compile_cores,
        window=window,
    )
    durations = {
        stage: [one.evaluation.seconds[key] for one in loop if key in one.evaluation.seconds]
        for stage, key in (("compile", "compile"), ("measure", "device"))
    }
    return _arm(
        "bare loop",
        loop,
        [],
        devices=1,
        device=next((one.evaluation.device for one in loop if one.evaluation.device), ""),
        compile_workers=plan.compile_workers,
        window=window,
        latencies_s={stage: quantiles(values) for stage, values in durations.items() if values},
    )


def quantiles(values: Sequence[float]) -> tuple[float, float]:
    """Median and 95th percentile."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def _arm(
    path: Literal["campaign", "bare loop"],
    done: Sequence[Done],
    links_s: Sequence[tuple[float, float]],
    *,
    window: Window,
    devices: int,
    latencies_s: Mapping[str, tuple[float, float]],
    **others: Any,
) -> Arm:
    """What lies in the window."""
    begin, end = window.bounds(done)
    seconds = end - begin
    inside = [one for one in done if begin < one.at <= end]
    device_s = [one.evaluation.seconds.get("device", 0.0) for one in inside]
    busy_s = sum(device_s) + sum(taken for at, taken in links_s if begin < at <= end)
    measured = [taken for taken in device_s if taken]
    return Arm(
        path=path,
        devices=devices,
        seconds=seconds,
        candidates=len(inside),
        candidates_per_hour=len(inside) * 3600 / seconds,
        busy=min(1.0, busy_s / (seconds * devices)),
        by_status=dict(Counter(one.evaluation.status.value for one in inside)),
        device_ms=1e3 * sum(measured) / max(1, len(measured)),
        latencies_ms={
            stage: (1e3 * middle, 1e3 * high) for stage, (middle, high) in latencies_s.items()
        },
        **others,
    )


def _config(setting: Setting, devices: int, folder: Path, seconds: float) -> CampaignConfig:
    chosen: dict[str, Any] = {"compile_workers": devices * setting.compile_workers}
    if setting.backend != "cpu":
        chosen["most"] = devices
    else:
        last = len(os.sched_getaffinity(0))
        chosen["ids"] = list(range(devices) if devices > 1 else [last - 1])
    at_most_s = PATIENCE_S + setting.warm_up_s + seconds
    operators: dict[str, Any] = {"kind": setting.operators}
    asked: dict[str, Any] = {}
    if setting.operators == "llm":
        operators["mutation"] = 0
        model = {"model": "scripted", "max_tokens": 8000}
        endpoint = {
            "base_url": setting.endpoint,
            "concurrency": 64 * devices,
            "novelty": None,  # a scripted model soon says again what it said before
        }
        asked = {"llm": {**endpoint, "models": {"main": model}}, "credit": "off"}
    return parse_config(
        {
            "task": str(setting.task),
            "backend": setting.backend,
            "name": "throughput",
            "runs_dir": str(folder),
            "seed": int(time.time()),
            "budgets": {"evaluations": None, "wall_time_s": at_most_s, "tuning": 0},
            "islands": {"patience": 100_000},
            "operators": [operators],
            "devices": chosen,
            "profiles": "off",  # the bare loop makes none
            "probes": "off",
            "final": {"seconds": 0},
            "tracking": "none",
            **asked,
        },
        where="the throughput measurement",
    )


class _StopAfter:
    """Ends a campaign in order, as Ctrl-C does, once the window is closed and until() holds."""

    def __init__(self, window: Window, until: Callable[[], bool]) -> None:
        self._window, self._until = window, until
        self._first: float | None = None
        self._before = 0  # evaluations known when the window opened, or a little later
        self._told = False

    def __call__(self, snapshot: Snapshot) -> None:
        if self._told or snapshot.phase != "running" or snapshot.evaluations < 2:
            return  # the first evaluation is the naive seed's
        now = time.monotonic()
        self._first = now if self._first is None else self._first
        lasted_s = now - self._first - self._window.warm_up_s
        if lasted_s <= 0:
            self._before = snapshot.evaluations
        elif lasted_s > self._window.seconds and self._until():
            self._told = snapshot.evaluations >= self._before + AT_LEAST
            if self._told:
                signal.raise_signal(signal.SIGINT)
