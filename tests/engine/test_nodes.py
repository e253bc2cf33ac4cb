"""Campaigns on several nodes: which measure, which only compile, and what comes and goes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.config import parse_config
from engine.ending import CampaignFailed
from engine.snapshot import Snapshot
from engine.store.events import Evaluated, Fault
from engine.store.kinds.sessions import NodesChanged
from engine.store.store import read_events
from engine.store.summary import Summary
from tests.engine.node_bench import local_cluster, node_workbench
from tests.engine.nodes_of_this import LocalNodes

EVALUATIONS = 60


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.actors.nodes.watch.LOOK_EVERY_S", 0.05)


def run(
    folder: Path,
    nodes: LocalNodes,
    observer: Callable[[Snapshot], None] | None = None,
    *,
    evaluations: int = 2 * EVALUATIONS,
    **changes: Any,
) -> Summary:
    """The campaign of that folder; a second time it is resumed, with so many evaluations."""
    values: dict[str, Any] = {
        "task": "sgemm",
        "backend": "hip",
        "name": "it",
        "runs_dir": str(folder),
        "tracking": "none",
        "budgets": {"evaluations": EVALUATIONS},
        "operators": [{"kind": "random"}],
        "final": {"seconds": 0},
        **changes,
    }
    with local_cluster(nodes):
        if (folder / "it" / "store.sqlite").exists():
            more = {"evaluations": evaluations}
            return resume_campaign(
                folder / "it", observer=observer, budgets=more, workbench=node_workbench()
            )
        config = parse_config(values, where="test")
        return run_campaign(config, observer=observer, workbench=node_workbench())


class Watched:
    """Does one thing after another, each once something is seen, and keeps what was said."""

    def __init__(self, *steps: tuple[Callable[[Snapshot], bool], Callable[[], Any]]) -> None:
        self._steps = list(steps)
        self.notes: set[str] = set()
        self.devices: set[int] = set()

    def __call__(self, snapshot: Snapshot) -> None:
        if snapshot.phase == "running":
            self.notes.update(snapshot.dispatcher.notes)
            self.devices.add(snapshot.dispatcher.devices)
        if self._steps and self._steps[0][0](snapshot):
            self._steps.pop(0)[1]()


def events(folder: Path, kind: type[Any]) -> list[Any]:
    found = read_events(folder / "it" / "store.sqlite")
    return [stored.event for stored in found if isinstance(stored.event, kind)]


def test_every_node_measures_and_compiles_but_for_a_head_without_gpus(tmp_path: Path) -> None:
    nodes = LocalNodes(gpus=0, cpus=2)
    ids = [nodes.start("a", gpus=2), nodes.start("b", gpus=2)]
    watched = Watched()
    made = run(tmp_path, nodes, watched)
    assert made.evaluations["total"] == EVALUATIONS
    assert all(nodes[one].measured >= 5 and nodes[one].compiled >= 5 for one in ids)
    assert 4 in watched.devices and not watched.notes


def test_a_node_that_goes_is_missed_without_loss_and_one_that_comes_is_used(
    tmp_path: Path,
) -> None:
    nodes = LocalNodes(gpus=1)
    lost = nodes.start("a", gpus=2)
    came: list[str] = []
    watched = Watched(
        (lambda seen: seen.evaluations >= 10, lambda: nodes.kill(lost)),
        (lambda seen: seen.dispatcher.devices == 1, lambda: came.append(nodes.start("a", gpus=2))),
    )
    evaluations = 600
    made = run(tmp_path, nodes, watched, budgets={"evaluations": evaluations})
    assert made.evaluations["total"] == evaluations
    assert made.evaluations["by_status"] == {"PASSED": evaluations}
    verdicts = [event.evaluation.kernel_id for event in events(tmp_path, Evaluated)]
    assert len(verdicts) == len(set(verdicts))
    assert nodes[came[0]].measured > 0
    assert {1, 3} <= watched.devices
    for event in events(tmp_path, Fault):  # of the node's, or of a device's of it
        assert event.message.endswith(" a has left the cluster")
    had = [event.nodes for event in events(tmp_path, NodesChanged)]
    assert {"head": 1} in had
    assert had[-1] == {"head": 1, "a": 2}


def test_devices_of_another_class_only_compile_and_it_is_said(tmp_path: Path) -> None:
    nodes = LocalNodes(gpus=1)
    other = nodes.start("other", gpus=2, device="another GPU")
    watched = Watched()
    run(tmp_path, nodes, watched)
    assert nodes[other].measured == 0 and nodes[other].compiled >= 5
    (note,) = watched.notes
    assert note.startswith("node other only compiles: it has hip/another GPU")
    assert watched.devices == {1}
    # A resumption goes on with the class that it has, wherever its driver is now.
    elsewhere = LocalNodes(gpus=1, device="another GPU")
    same = elsewhere.start("same", gpus=1)
    run(tmp_path, elsewhere)
    assert elsewhere[same].measured > 0
    others = LocalNodes(gpus=1, device="another GPU")
    told = r"cluster has hip/another GPU.*; add such nodes, or start a new campaign"
    with pytest.raises(CampaignFailed, match=told):
        run(tmp_path, others, evaluations=400)


def test_a_node_with_another_compiler_compiles_nothing(tmp_path: Path) -> None:
    nodes = LocalNodes(gpus=1)
    other = nodes.start("old", gpus=1, compiler="an older one")
    watched = Watched()
    run(tmp_path, nodes, watched)
    assert nodes[other].measured >= 5
    assert nodes[other].compiled == 1  # the seed, to see
    assert watched.notes == {
        "node old compiles nothing: it has an older one, and those that measure none"
    }


def test_no_more_devices_measure_than_are_asked_for(tmp_path: Path) -> None:
    nodes = LocalNodes(gpus=2)
    nodes.start("a", gpus=2)
    watched = Watched()
    run(tmp_path, nodes, watched, devices={"most": 3})
    assert watched.devices == {3}


def test_a_cluster_without_devices_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    nodes = LocalNodes(gpus=0)
    with pytest.raises(CampaignFailed) as caught:
        run(tmp_path, nodes, devices={"patience_s": 0.3})
    said = str(caught.value)
    assert said.startswith("no hip device could be opened on the cluster within 0.3 s")
    assert "\n" not in said


def test_nobody_waits_for_devices_that_can_not_be_used(tmp_path: Path) -> None:
    nodes = LocalNodes(gpus=1, lacks="hip-python is not installed")
    nodes.start("a", gpus=2, lacks="no runtime is there")
    with pytest.raises(CampaignFailed) as caught:
        run(tmp_path, nodes)
    said = str(caught.value)
    assert said.startswith("no hip device of the cluster can be used: ")
    assert "node head has a device that can't be used: hip-python is not installed" in said
    assert "node a has a device that can't be used: no runtime is there" in said


def test_what_one_node_lacks_another_has(tmp_path: Path) -> None:
    nodes = LocalNodes(gpus=1, lacks="hip-python is not installed")
    good = nodes.start("good", gpus=1)
    watched = Watched()
    run(tmp_path, nodes, watched)
    assert nodes[good].measured >= EVALUATIONS
    said = "node head has a device that can't be used: hip-python is not installed"
    assert watched.notes == {said}


def test_where_nothing_compiles_it_is_said(tmp_path: Path) -> None:
    nodes = LocalNodes(gpus=1, cpus=0)
    with pytest.raises(CampaignFailed, match="no node of the cluster compiles kernels for hip"):
        run(tmp_path, nodes)
