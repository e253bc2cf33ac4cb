"""Campaigns on a Ray of two nodes: a node is killed and comes back; doubles of AMD's runtime."""

import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.store.events import Evaluated, Fault
from engine.store.replay import replay
from engine.store.store import read_events
from tests.engine.ray_nodes import RayNodes, ray_nodes
from tests.evaluators.small_task import write_task
from tests.scripts.test_bench_throughput import SEED

ROOT = Path(__file__).parents[2]

DRIVER = """
import json, sys
from pathlib import Path
from engine.campaign import resume_campaign, run_campaign
from engine.cli.progress import progress
from engine.config import parse_config
from tests.engine.{module} import {make}

if __name__ == "__main__":
    values = json.loads(sys.argv[1])
    with progress(sys.stderr) as show:
        config = parse_config(values, where="test")
        run_campaign(config, observer=show, workbench={make}({argument}))
"""
SLOW = DRIVER.format(module="slow_bench", make="slow_workbench", argument="0.1")
TWIN = DRIVER.format(module="twin_workbench", make="twin_of", argument="config")


@pytest.fixture
def nodes() -> Iterator[RayNodes]:
    with ray_nodes() as started:
        started.environment["PYTHONPATH"] = str(ROOT)
        yield started


def start(code: str, nodes: RayNodes, folder: Path, **changes: Any) -> "subprocess.Popen[str]":
    values = {
        "task": "sgemm",
        "backend": "hip",
        "name": "it",
        "runs_dir": str(folder),
        "tracking": "none",
        "ray": {"address": nodes.address},
        "final": {"seconds": 0},
        **changes,
    }
    return subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(values)],
        env=nodes.environment,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )


def evaluated(store: Path) -> int:
    if not store.exists():
        return 0
    found = read_events(store)
    return sum(isinstance(stored.event, Evaluated) for stored in found)


def reach(campaign: "subprocess.Popen[str]", store: Path, count: int) -> None:
    while evaluated(store) < count:
        assert campaign.poll() is None, campaign.communicate()[1]
        time.sleep(0.5)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_killed_node_is_missed_and_is_used_when_it_is_back(
    nodes: RayNodes, tmp_path: Path
) -> None:
    nodes.start("a", gpus=[0, 1], more={})
    nodes.start("b", gpus=[2, 3], more={})
    campaign = start(SLOW, nodes, tmp_path, budgets={"evaluations": 1500})
    store = tmp_path / "it" / "store.sqlite"
    reach(campaign, store, 100)
    nodes.kill("b")
    reach(campaign, store, evaluated(store) + 100)
    nodes.start("b", gpus=[2, 3], more={})
    _, said = campaign.communicate(timeout=600)
    assert campaign.returncode == 0, said
    assert "4 devices on 2 nodes" in said and "2 devices" not in said.splitlines()[-1]
    whole = replay(store)
    assert whole.scores.by_status == {"PASSED": 1500}
    found = [stored.event for stored in read_events(store)]
    verdicts = [one.evaluation.kernel_id for one in found if isinstance(one, Evaluated)]
    assert len(verdicts) == len(set(verdicts)) == 1500
    lost = [one.message for one in found if isinstance(one, Fault)]
    assert lost and all("has left the cluster" in message for message in lost)
    counts = [int(one) for one in re.findall(r"(\d) devices on 2 nodes", said)]
    assert counts[0] == counts[-1] == 4


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_each_child_sees_only_its_own_device(
    double: pytest.MonkeyPatch, nodes: RayNodes, tmp_path: Path
) -> None:
    """Eight doubles of AMD's runtime on two nodes; kernels are those of a task of one's own."""
    log = tmp_path / "launches"
    nodes.environment |= {
        name: os.environ[name]
        for name in ("ROCM_PATH", "KERNEL_SCIENTIST_ROCM", "HIP_DOUBLE_TWINS")
    }
    nodes.environment |= {"HIP_DOUBLE_DEVICES": "8", "HIP_DOUBLE_LOG": str(log)}
    nodes.start("a", gpus=[0, 1, 2, 3], more={})
    nodes.start("b", gpus=[4, 5, 6, 7], more={})
    task = write_task(tmp_path / "small", seed=SEED)
    campaign = start(
        TWIN,
        nodes,
        tmp_path,
        task=str(task),
        operators=[{"kind": "random"}],
        budgets={"evaluations": 40},
    )
    _, said = campaign.communicate(timeout=800)
    assert campaign.returncode == 0, said
    whole = replay(tmp_path / "it" / "store.sqlite")
    assert whole.scores.by_status.total() == 40 and not whole.faults, said
    seen: dict[str, set[str]] = defaultdict(set)  # by process
    for line in log.read_text().splitlines():
        device, *_, pid = line.split()
        seen[pid].add(device)
    assert all(len(devices) == 1 for devices in seen.values())
    assert set().union(*seen.values()) == set("01234567")
