"""A campaign whose driver is killed while it takes in a kernel and an idea: both are tried once."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from engine.campaign import resume_campaign
from engine.history.brought import brought_into
from engine.inbox import Entry, put, waiting
from engine.store.events import Added, Drafted, Evaluated
from engine.store.kinds.calls import CallReplied, CallReserved
from engine.store.kinds.steering import Injected
from engine.store.replay import replay
from engine.store.store import read_events
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script, ScriptedServer
from tests.engine import test_scientist_campaign
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench
from tests.engine.test_scientist_campaign import SECRET
from tests.engine.test_scientist_kills import DRIVER
from tests.engine.test_steering import MINE, WORDS

key = test_scientist_campaign.key

KILLS_AFTER_S = (0.2, 0.6)
"""After the two were put in: before they are taken, and while they are under way."""


def killed(folder: Path, server: ScriptedServer, *, after_s: float) -> None:
    """Start or resume the campaign, put both in once it has asked a model, then kill -9."""
    until = server.calls + 3
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
    number = len(list((folder / "it").glob("inbox/**/*.json")))
    kernel = f"{MINE}// {number}\n__device__ float more{number}(float a) {{ return a; }}\n"
    put(folder / "it", Entry(what="kernel", name=f"{number}.hip", text=kernel))
    put(folder / "it", Entry(what="idea", name=f"{number}.md", text=f"{WORDS} ({number})"))
    time.sleep(after_s)
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate()
    while server.in_flight:
        time.sleep(0.02)


@pytest.mark.soak
def test_what_was_put_in_survives_kills(tmp_path: Path) -> None:
    with serving(Script(key=SECRET, latency_s=0.3)) as server:
        for after_s in KILLS_AFTER_S:
            killed(tmp_path, server, after_s=after_s)
        done = replay(tmp_path / "it" / "store.sqlite").scores.asked
        budgets = {"evaluations": done + 60, "calls": 1000}
        with local_ray():
            resume_campaign(tmp_path / "it", budgets=budgets, workbench=quick_workbench())
    whole = replay(tmp_path / "it" / "store.sqlite")
    assert not list(waiting(tmp_path / "it"))
    assert [one.settled for one in brought_into(whole)] == [True] * 2 * len(KILLS_AFTER_S)
    events = [one.event for one in read_events(tmp_path / "it" / "store.sqlite")]
    for kind in (Injected, Drafted, Added, CallReserved):
        keys = Counter(one.key for one in events if isinstance(one, kind))
        assert set(keys.values()) == {1}
    judged = Counter(
        one.evaluation.kernel_id for one in events if isinstance(one, Evaluated) and not one.number
    )
    assert set(judged.values()) == {1}
    answered = Counter(one.request for one in events if isinstance(one, CallReplied))
    assert set(answered.values()) == {1}, "a received reply was asked for again"
