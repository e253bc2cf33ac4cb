"""Metrics of a campaign: what is told of a snapshot, and what a cluster's agent shows of it."""

import re
import signal
import subprocess
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.actors.metrics import (
    COUNTERS,
    GAUGES,
    PREFIX,
    SET_EVERY_S,
    Metrics,
    counts,
    gauges,
    metrics_of,
)
from engine.snapshot import NOTHING_YET, Snapshot
from engine.store.scoreboard import Best
from engine.store.spending import CallBudget, Spending
from tests.engine.ports import free_port
from tests.engine.ray_head import BIN, environment_of_head, running_head
from tests.engine.small_tasks import small

ROOT = Path(__file__).resolve().parents[3]

BUSY = replace(
    NOTHING_YET,
    by_status={"PASSED": 5, "WRONG": 2},
    best=Best(kernel_id="k", speedup=4.5, ci95=(4.0, 5.0)),
    evaluated=7,
    compiling=3,
    ready=2,
    measuring=1,
    contesting=4,
    faults=6,
    device_busy_s=10.0,
    devices=1,
    offered_s=20.0,
    busy_s={"candidates": 8.0, "contests": 2.0},
    quarantined=1,
)
CALLS = Spending(
    calls=12, tokens=3000, dollars=0.5, in_flight=3, replies=9, lost=0, failures={"timeout": 2}
)


def snapshot(**changes: Any) -> Snapshot:
    values: dict[str, Any] = {
        "campaign": "short",
        "run_dir": "runs/short",
        "phase": "running",
        "elapsed_s": 40.0,
        "session_s": 20.0,
        "devices": 1,
        "device": "a device",
        "dispatcher": BUSY,
        "islands": (),
        "evaluations_left": 30,
        "seconds_left": None,
    }
    return Snapshot(**{**values, **changes})


def test_every_gauge_and_counter_is_told_of_a_campaign_that_has_it() -> None:
    budget = CallBudget(calls=20, tokens=10_000, dollars=2.0)
    full = snapshot(calls=CALLS, call_budget=budget, seconds_left=60.0)
    told = dict(gauges(full))
    assert told.keys() == GAUGES.keys()
    assert (told["compiling"], told["ready"], told["measuring"], told["contesting"]) == (3, 2, 1, 4)
    assert (told["device_busy_fraction"], told["best_speedup"]) == (0.5, 4.5)
    assert (told["evaluations_left"], told["seconds_left"]) == (30, 60.0)
    assert (told["calls_left"], told["tokens_left"], told["dollars_left"]) == (8, 7000, 1.5)
    counted = {(name, what): value for name, what, value in counts(full)}
    assert {name for name, _ in counted} == COUNTERS.keys()
    assert counted["evaluations", "WRONG"] == 2
    assert counted["device_busy_seconds", "contests"] == 2.0
    assert counted["call_failures", "timeout"] == 2


def test_what_a_campaign_has_not_is_not_told() -> None:
    told = dict(gauges(snapshot(dispatcher=NOTHING_YET, evaluations_left=None)))
    left = {name for name in GAUGES if name.endswith("_left")}
    assert not told.keys() & {*left, "best_speedup", "calls_in_flight", "endpoints_away"}


def test_names_may_hold_any_letters() -> None:
    """Ray takes tags in ASCII alone."""
    Metrics(campaign="sü", task="größe <b>", backend="cpu")(snapshot())


def test_without_ray_there_are_none() -> None:
    assert metrics_of(campaign="short", task="sgemm", backend="cpu") is None


def test_counters_never_fall_and_are_told_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ray's own record them, which raise for an increment that is none."""
    now = 100.0
    shown = Metrics(campaign="short", task="sgemm", backend="cpu", clock=lambda: now)
    told: list[tuple[float, dict[str, str] | None]] = []
    counter = shown._counters["evaluations"]
    monkeypatch.setattr(counter, "inc", lambda value, tags: told.append((value, tags)))
    shown(snapshot())
    assert told == [(5, {"status": "PASSED"}), (2, {"status": "WRONG"})]
    later = replace(BUSY, by_status={"PASSED": 9, "WRONG": 1})  # a verdict was revised
    shown(snapshot(dispatcher=later))
    assert len(told) == 2
    now += SET_EVERY_S
    shown(snapshot(dispatcher=later))
    assert told[2:] == [(4, {"status": "PASSED"})]


def scraped(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return str(reply.read().decode())
    except OSError:
        return ""


@pytest.mark.soak
def test_a_cluster_shows_them_at_its_metrics_port(tmp_path: Path) -> None:
    """Also one without a dashboard; the campaign is ended once it was seen."""
    port, metrics = free_port(), free_port()
    url = f"http://127.0.0.1:{metrics}/metrics"
    options = {
        "port": port,
        "node-ip-address": "127.0.0.1",
        "metrics-export-port": metrics,
        "include-dashboard": "false",
    }
    environment = {**environment_of_head(), "RAY_metrics_report_interval_ms": "1000"}
    command: list[str | Path] = [BIN / "kernel-scientist"]
    task = small("transpose", tmp_path / "transpose")
    command += ["run", "configs/quickstart.yaml", f"task={task}"]
    command += [f"runs_dir={tmp_path}", "name=seen", "tracking=none", "final.seconds=0"]
    command += [f"ray.address=127.0.0.1:{port}", "budgets.evaluations=100000"]
    command += ["budgets.wall_time_s=3000", "islands.count=1"]
    with running_head(options, environment, lambda: bool(scraped(url))):
        campaign = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**environment, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            text = ""
            while f"ray_{PREFIX}evaluations_total" not in text:
                assert campaign.poll() is None, campaign.stderr and campaign.stderr.read()
                time.sleep(1)
                text = scraped(url)
        finally:
            campaign.send_signal(signal.SIGINT)
            _, said = campaign.communicate(timeout=300)
    assert campaign.returncode == 0, said
    own = [one for one in text.splitlines() if one.startswith(f"ray_{PREFIX}")]
    tags = ('campaign="seen"', 'task="transpose"', 'backend="cpu"')
    assert all(tag in one for one in own for tag in tags)
    [passed] = [one for one in own if "evaluations_total" in one and 'status="PASSED"' in one]
    assert float(passed.rpartition(" ")[2]) >= 1
    names = {re.split(r"[{ ]", one)[0].removeprefix(f"ray_{PREFIX}") for one in own}
    assert {"compiling", "ready", "measuring", "evaluations_left", "seconds_left"} <= names
    assert {"best_speedup", "device_busy_fraction", "devices_quarantined"} <= names
    assert "device_busy_seconds_total" in names
