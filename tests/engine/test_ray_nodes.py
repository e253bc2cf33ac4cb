"""Campaigns on a Ray of two nodes: a node is killed and comes back; doubles of AMD's runtime."""

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.store.events import Evaluated, Fault
from engine.store.replay import replay
from engine.store.store import read_events
from tests.engine.ray_campaigns import evaluated, reach, start
from tests.engine.ray_nodes import RayNodes, ray_nodes
from tests.evaluators.small_task import write_task
from tests.scripts.test_bench_throughput import SEED


@pytest.fixture
def nodes() -> Iterator[RayNodes]:
    with ray_nodes() as started:
        yield started


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_killed_node_is_missed_and_is_used_when_it_is_back(
    nodes: RayNodes, tmp_path: Path
) -> None:
    nodes.start("a", gpus=[0, 1], more={})
    nodes.start("b", gpus=[2, 3], more={})
    campaign = start("slow", nodes, tmp_path, budgets={"evaluations": 1500})
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
        "twin",
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


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_campaign_whose_head_is_lost_goes_on_elsewhere_from_its_copy(tmp_path: Path) -> None:
    """With the head go the driver and the folder of the campaign; the copy is on shared storage."""
    shared = tmp_path / "shared"
    shared.mkdir()
    changes = {
        "budgets": {"evaluations": 600},
        "snapshots": {"folder": str(shared), "every_s": 2.0},
    }
    store = tmp_path / "it" / "store.sqlite"
    with ray_nodes() as nodes:
        nodes.start("a", gpus=[0, 1], more={})
        nodes.start("b", gpus=[2, 3], more={})
        campaign = start("slow", nodes, tmp_path, **changes)
        reach(campaign, store, 200)
        campaign.kill()
        nodes.kill("a")
        campaign.communicate()
    lost = evaluated(store)
    best = replay(store).scores.best
    shutil.rmtree(store.parent)
    kept = evaluated(shared / "it.sqlite")
    assert best is not None and 0 < kept <= lost
    with ray_nodes() as nodes:
        nodes.start("c", gpus=[0, 1], more={})
        nodes.start("d", gpus=[2, 3], more={})
        campaign = start("slow", nodes, tmp_path, **changes)
        _, said = campaign.communicate(timeout=600)
    assert campaign.returncode == 0, said
    assert str(shared / "it.sqlite") in said, said
    whole = replay(store)
    assert whole.scores.by_status == {"PASSED": 600}
    found = [stored.event for stored in read_events(store)]
    verdicts = [one.evaluation.kernel_id for one in found if isinstance(one, Evaluated)]
    assert len(verdicts) == len(set(verdicts)) == 600
