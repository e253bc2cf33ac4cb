"""A campaign on two Ray nodes of which something random is killed every few seconds."""

import random
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine.store.events import CycleFinished, Drafted, Evaluated, Event
from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved
from engine.store.replay import replay
from engine.store.store import read_events
from operators.llm.question import Failure
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script, ScriptedServer
from tests.engine.ray_campaigns import command_lines, evaluated, kill, start
from tests.engine.ray_nodes import RayNodes, ray_nodes

EVALUATIONS = 100
EVERY_S = 3.0
SELDOM = 0.05
AT_ONCE = 6  # calls of models in flight
MOST_SESSIONS = 40

TITLES = {
    "evaluator": "ray::EvaluatorActor",
    "compile worker": "ray::compile_task",
    "island": "ray::IslandActor",
    "gateway": "ray::GatewayActor",
    "tracker": "ray::TrackerActor",
}
"""What Ray calls the processes of a campaign."""

NODE = "node"


@dataclass
class Killer:
    """killed: how often what. down_until: when node b is started again."""

    nodes: RayNodes
    draw: random.Random
    killed: Counter[str] = field(default_factory=Counter)
    down_until: float = 0.0

    def strike(self) -> None:
        """Kill something, or bring back the node that was killed."""
        if self.down_until:
            if time.monotonic() > self.down_until:
                self.nodes.start("b", gpus=[2, 3], more={})
                self.down_until = 0.0
            return
        found = self._found()
        kinds = [kind for kind in (*TITLES, NODE) if found.get(kind)]
        if not kinds:
            return
        fewest = min(self.killed[kind] for kind in kinds)
        kind = self.draw.choice([one for one in kinds if self.killed[one] == fewest])
        if kind == NODE:
            self.nodes.kill("b")
            self.down_until = time.monotonic() + 2 * EVERY_S
        else:
            kill(self.draw.choice(found[kind]))
        self.killed[kind] += 1

    def campaigns(self) -> list[str]:
        """What is there beside Ray itself: processes of campaigns."""
        own = ("ray::IDLE", "ray::DashboardAgent", "ray::RuntimeEnvAgent")
        lines = self._lines().values()
        return [line for line in lines if line.startswith("ray::") and not line.startswith(own)]

    def _lines(self) -> dict[int, str]:
        ours = set(self.nodes.processes())
        return {pid: line for pid, line in command_lines().items() if pid in ours}

    def _found(self) -> dict[str, list[int]]:
        lines = self._lines()
        found = {
            kind: [pid for pid, line in lines.items() if line.startswith(title)]
            for kind, title in TITLES.items()
        }
        return {**found, NODE: [0] if found["evaluator"] else []}


@pytest.mark.soak
@pytest.mark.timeout(3000)
def test_whatever_is_killed_each_evaluation_counts_once_and_no_reply_is_lost(
    tmp_path: Path,
) -> None:
    store = tmp_path / "it" / "store.sqlite"
    script = Script(latency_s=0.3, unique=True, fail=0.05, malform=0.05, seed=3, hang_s=0.5)
    with serving(script) as server, ray_nodes() as nodes:
        nodes.start("a", gpus=[0, 1], more={})
        nodes.start("b", gpus=[2, 3], more={})
        killer = Killer(nodes, random.Random(11))
        sessions = cut_short = 0
        said = ""
        while evaluated(store) < EVALUATIONS or not said:
            sessions += 1
            assert sessions <= MOST_SESSIONS, said
            before = evaluated(store)
            campaign = campaign_on(nodes, server, tmp_path)
            while campaign.poll() is None:
                time.sleep(EVERY_S)
                # Seldom while it starts, which takes longer than between two kills.
                if evaluated(store) > before or killer.draw.random() < SELDOM:
                    killer.strike()
            said = "".join(campaign.communicate())
            assert "Traceback" not in said, said
            cut_short += campaign.returncode != 0
        print(f"{sessions} sessions, {cut_short} cut short, killed: {dict(killer.killed)}")
        while server.in_flight:
            time.sleep(0.02)
        while killer.campaigns():  # the test's timeout bounds it
            time.sleep(0.5)
    assert set(killer.killed) == {*TITLES, NODE}
    check(store, server, cut_short + killer.killed["gateway"])


def campaign_on(nodes: RayNodes, server: ScriptedServer, folder: Path) -> "subprocess.Popen[str]":
    model = {"model": "scripted", "stream": False, "max_tokens": 2000}
    return start(
        "slower",
        nodes,
        folder,
        budgets={"evaluations": EVALUATIONS, "tuning": 0, "calls": 3000},
        operators=[{"kind": "llm", "mutation": 1, "crossover": 2}],
        islands={"count": 2, "patience": 1000},
        tracking=f"sqlite:///{folder}/mlflow.db",
        llm={
            "base_url": server.base_url,
            "models": {"main": model},
            "concurrency": AT_ONCE,
            "timeout_s": 4.0,
            "retries": 8,
        },
    )


def check(store: Path, server: ScriptedServer, kills: int) -> None:
    """kills: after which calls in flight may have been lost."""
    found: list[Event] = [stored.event for stored in read_events(store)]

    def of(kind: type[Any]) -> list[Any]:
        return [event for event in found if isinstance(event, kind)]

    verdicts = [event.evaluation.kernel_id for event in of(Evaluated)]
    assert len(verdicts) == len(set(verdicts)) == EVALUATIONS
    whole = replay(store)
    assert whole.scores.by_status.total() == EVALUATIONS
    reserved = Counter(event.key for event in of(CallReserved))
    settled = Counter(event.key for event in of(CallReplied) + of(CallFailed))
    assert set(reserved.values()) == set(settled.values()) == {1}
    assert set(settled) <= set(reserved)
    assert len(reserved) - len(settled) <= AT_ONCE * kills
    cut = sum(event.failure is Failure.CANCELLED for event in of(CallFailed))
    assert len(settled) - cut <= server.calls <= len(reserved)
    answered = Counter(event.request for event in of(CallReplied))
    assert set(answered.values()) == {1}, "a received reply was asked for again"
    drafted = Counter(event.key for event in of(Drafted))
    assert set(drafted.values()) == {1}
    assert of(CycleFinished)
