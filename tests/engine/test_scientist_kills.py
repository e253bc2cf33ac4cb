"""Campaigns whose driver is killed at work: no received reply is lost, none is paid for twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from engine.campaign import resume_campaign
from engine.config import CampaignConfig
from engine.store.events import CycleFinished, Drafted
from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved, TurnedAway
from engine.store.replay import replay
from operators.llm.question import Failure
from scripts.scripted_model.answers import answer
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Rule, Script, ScriptedServer
from tests.engine import test_scientist_campaign
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench
from tests.engine.test_scientist_campaign import SECRET, Run, config, run_of, section

key = test_scientist_campaign.key

DRIVER = """
import sys
from pathlib import Path
from engine.campaign import resume_campaign, run_campaign
from tests.engine.quick_bench import quick_workbench
from tests.engine.test_scientist_kills import few_at_once

if __name__ == "__main__":
    folder, url, evaluations = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    budgets = {"evaluations": evaluations, "calls": 1000}
    if (folder / "it" / "store.sqlite").exists():
        resume_campaign(folder / "it", budgets=budgets, workbench=quick_workbench())
    else:
        run_campaign(few_at_once(folder, url, budgets), workbench=quick_workbench())
"""


def few_at_once(folder: Path, url: str, budgets: dict[str, int]) -> CampaignConfig:
    """Its calls in flight, which are what a kill may lose, are fewer than its islands want."""
    return config(folder, url, budgets=budgets, llm={**section(url), "concurrency": 6})


def killed_and_resumed(
    folder: Path, *, kills: int, evaluations: int, rule: Rule = answer, most: int = 40
) -> Run:
    """A campaign whose driver is killed at random moments of its work, then let end.

    most: calls of models before a kill.
    """
    draw = random.Random(f"kills/{kills}")
    script = Script(
        key=SECRET, latency_s=0.15, fail=0.1, malform=0.1, seed=9, hang_s=0.5, rule=rule
    )
    with serving(script) as server:
        for _ in range(kills):
            _kill_at_work(folder, server, calls=draw.randint(5, most))
        # The kills may have come after many evaluations; some are left to do in any case.
        done = replay(folder / "it" / "store.sqlite").scores.asked
        budgets = {"evaluations": max(evaluations, done + 5), "calls": 1000}
        with local_ray():
            summary = resume_campaign(folder / "it", budgets=budgets, workbench=quick_workbench())
        time.sleep(0.6)
        return run_of(summary, server, few_at_once(folder, server.base_url, budgets))


def _kill_at_work(folder: Path, server: ScriptedServer, *, calls: int) -> None:
    """Kill -9 once the endpoint has had so many more calls."""
    until = server.calls + calls
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(folder), server.base_url, "100000"],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while server.calls < until:
        assert driver.poll() is None, driver.communicate()[0]
        time.sleep(0.005)
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate()
    while server.in_flight:  # the gateway's process ends with the driver
        time.sleep(0.02)


def check_kills(run: Run, kills: int) -> None:
    reserved = Counter(event.key for event in run.of(CallReserved))
    settled = Counter(e.key for e in run.events if isinstance(e, CallReplied | CallFailed))
    lost = set(reserved) - set(settled)
    calls = run.summary.calls
    assert calls is not None
    assert set(reserved.values()) == set(settled.values()) == {1}
    assert set(settled) <= set(reserved)
    assert run.config.llm is not None
    assert calls.lost == len(lost) <= kills * run.config.llm.concurrency
    # The endpoint's log is what is stored and what was lost; a call that was lost, or cut off when
    # the campaign ended, may not have been sent yet.
    cut = sum(event.failure is Failure.CANCELLED for event in run.of(CallFailed))
    assert len(settled) - cut <= run.server.calls <= len(reserved) == calls.calls <= 1000
    answered = Counter(event.request for event in run.of(CallReplied))
    assert set(answered.values()) == {1}, "a received reply was asked for again"
    assert run.summary.resumed
    drafted = Counter(event.key for event in run.of(Drafted))
    assert set(drafted.values()) == {1}
    # Every writer's reply of a finished cycle was used: as a draft, as a known kernel, or refused.
    finished = {event.key for event in run.of(CycleFinished)}
    known = {event.request for event in run.of(TurnedAway)}
    repeats = sum(event.duplicates for event in run.of(CycleFinished))
    unused = [
        request
        for request in answered
        if request.split("/")[3:4] == ["writer"]
        and request.split("/")[2].startswith("s")  # else a probe's
        and "/".join(request.split("/")[:2]) in finished
        and "/".join(request.split("/")[:3]) not in drafted
        and request not in known
    ]
    assert len(unused) <= repeats


@pytest.mark.soak
def test_two_kills_lose_only_what_was_in_flight(tmp_path: Path) -> None:
    done = 40
    run = killed_and_resumed(tmp_path, kills=2, evaluations=done)
    check_kills(run, 2)
    assert run.summary.evaluations["total"] >= done


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_ten_kills_lose_only_what_was_in_flight(tmp_path: Path) -> None:
    check_kills(killed_and_resumed(tmp_path, kills=10, evaluations=250), 10)
