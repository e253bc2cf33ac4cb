"""Sessions of one campaign: other toolchains, other devices, stores of before, failed anchors."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from engine import session as session_module
from engine.campaign import resume_campaign, run_campaign
from engine.cli.result import result_lines
from engine.config import parse_config
from engine.config_errors import ConfigError
from engine.dispatch.workbench import Blocks
from engine.ending import CampaignFailed
from engine.preparation import refuse_changed
from engine.snapshot import Snapshot
from engine.store.events import EpochStarted, Evaluated, Fault, to_row
from engine.store.kinds.contests import Contested
from engine.store.kinds.revisions import AnchorWithdrawn, Revised
from engine.store.replay import Replay, replay
from engine.store.store import Store, read_events
from engine.store.summary import summarise
from engine.store.toolchain import toolchain_of
from evaluators.device import Compiled
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import HARNESS_VERSION, Evaluation, Rejected, Status
from evaluators.kernel.source import KernelSource, kernel_id
from evaluators.measuring.policy import Anchor
from evaluators.measuring.race import AnchorFailed
from evaluators.processes.child_evaluator import RemoteDevice
from evaluators.tasks.task_file import load_task
from scripts.bench_engine import INFO, InstantEvaluator, InstantWorkbench

TASK = load_task("sum_reduction")
pytestmark = pytest.mark.usefixtures("in_this_process")

NAIVE_ID = kernel_id(TASK.naive)
STORED = Path(__file__).parent / "data" / "store_of_20edbf1.jsonl"
"""What commit 20edbf1 wrote: 12 evaluations on two islands, two epochs, by InstantWorkbench."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherWorkbench(InstantWorkbench):
    """Its device is another one, or has another compiler."""

    info: DeviceInfo = INFO

    def open(self, device: int) -> AbstractContextManager[InstantEvaluator]:
        return nullcontext(InstantEvaluator(workbench=self, device=RemoteDevice(self.info)))


def workbench(info: DeviceInfo = INFO) -> OtherWorkbench:
    labels = tuple(workload.label for workload in TASK.workloads("benchmarks", "cpu"))
    return OtherWorkbench(task_hash=TASK.hash, labels=labels, binary_bytes=10, info=info)


@pytest.fixture
def of_before(tmp_path: Path) -> Path:
    """A run folder as commit 20edbf1 left it."""
    run_dir = tmp_path / "it"
    run_dir.mkdir()
    Store(run_dir / "store.sqlite").close()
    lines = STORED.read_text().replace("@RUNS@", str(tmp_path)).replace("@TASK_HASH@", TASK.hash)
    with sqlite3.connect(run_dir / "store.sqlite") as connection:
        for one in map(json.loads, lines.splitlines()):
            values = [one[name] for name in ("at", "kind", "key", "island", "cycle")]
            connection.execute(
                "INSERT INTO events (at, kind, key, island, cycle, body) VALUES (?, ?, ?, ?, ?, ?)",
                (*values, json.dumps(one["body"])),
            )
    connection.close()
    return run_dir


def events_of(run_dir: Path, kind: type[Any]) -> list[Any]:
    stored = read_events(run_dir / "store.sqlite")
    return [one.event for one in stored if isinstance(one.event, kind)]


def said(run_dir: Path) -> str:
    whole = replay(run_dir / "store.sqlite")
    return "\n".join(result_lines(summarise(whole, run_dir), whole, None))


def test_a_store_of_before_goes_on(of_before: Path) -> None:
    with sqlite3.connect(of_before / "store.sqlite") as connection:
        connection.execute(  # as if this harness were the one of then
            "UPDATE events SET body = json_set(body, '$.harness', ?) "
            "WHERE kind = 'session_started'",
            (HARNESS_VERSION,),
        )
    connection.close()
    before = list(read_events(of_before / "store.sqlite"))
    resumed = resume_campaign(of_before, budgets={"evaluations": 16}, workbench=workbench())
    assert resumed.evaluations["total"] == 16 and resumed.ended == "the evaluations are spent"
    assert list(read_events(of_before / "store.sqlite"))[: len(before)] == before
    assert {one.number for one in events_of(of_before, Evaluated)} == {0}
    assert all(one.link for one in events_of(of_before, EpochStarted)[1:])
    old, new = (one.started for one in replay(of_before / "store.sqlite").sessions)
    assert (new.harness, new.compiler) == (HARNESS_VERSION, "none")
    assert toolchain_of(old) == toolchain_of(new)
    assert "toolchain" not in said(of_before)


def test_another_compiler_begins_a_new_chain_and_measures_the_best_again(of_before: Path) -> None:
    before = replay(of_before / "store.sqlite").scores
    assert before.best is not None and len(before.anchors) == 2
    other = workbench(replace(INFO, compiler="none 2.0"))
    resume_campaign(of_before, budgets={"evaluations": 14}, workbench=other)
    check_renewed(of_before, before.best.kernel_id, before.epoch + 1)
    assert "the toolchain changed from none (harness 1) to none 2.0 (harness" in said(of_before)
    # A further session with that compiler measures nothing again, and replays what islands heard.
    again = len(events_of(of_before, Evaluated))
    resume_campaign(of_before, budgets={"evaluations": 15}, workbench=other)
    assert len(events_of(of_before, Evaluated)) == again + 1


def check_renewed(run_dir: Path, best_id: str, number: int) -> None:
    chains = [one for one in events_of(run_dir, EpochStarted) if not one.link]
    assert [(one.number, one.anchor_id) for one in chains] == [(0, NAIVE_ID), (number, NAIVE_ID)]
    again = {e.evaluation.kernel_id: e for e in events_of(run_dir, Evaluated) if e.number}
    assert again.keys() == {NAIVE_ID, best_id}
    assert again[best_id].evaluation.anchor_id == NAIVE_ID
    won = [one for one in events_of(run_dir, Contested) if one.outcome == "won"]
    assert (won[0].kernel_id, won[0].rival_id) == (best_id, NAIVE_ID)
    heard = events_of(run_dir, Revised)
    assert {(one.island, one.kernel_id) for one in heard} == {
        (island, one) for island in range(2) for one in again
    }


def test_another_harness_does_too(of_before: Path) -> None:
    with sqlite3.connect(of_before / "store.sqlite") as connection:  # as an older one wrote it
        connection.execute(
            "UPDATE events SET body = json_set(body, '$.harness', '0') "
            "WHERE kind = 'session_started'"
        )
    connection.close()
    resume_campaign(of_before, budgets={"evaluations": 14}, workbench=workbench())
    assert [one.number for one in events_of(of_before, Evaluated) if one.number] == [1, 1]


def test_what_a_killed_session_stored_last_counts(
    of_before: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its writer may outlive it for a moment, after the store was read for the next session."""
    module: Any = session_module
    session = module.ray_session
    last = events_of(of_before, Evaluated)[-1]
    late = replace(last, evaluation=replace(last.evaluation, kernel_id="f" * 16))

    @contextmanager
    def begun(*arguments: Any) -> Iterator[Any]:
        with Store(of_before / "store.sqlite") as store:
            store.append([to_row(late)])
        with session(*arguments) as driver:
            yield driver

    monkeypatch.setattr(module, "ray_session", begun)
    resumed = resume_campaign(of_before, budgets={"evaluations": 16}, workbench=workbench())
    assert resumed.evaluations["total"] == 16


def test_another_naive_seed_is_refused(of_before: Path) -> None:
    """What all were measured beside."""
    before = replay(of_before / "store.sqlite")
    config = parse_config(dict(before.campaign.config), where="the store")
    was = before.first_drafts[NAIVE_ID].candidate.source
    task = replace(load_task(config.task), hash=before.campaign.task_hash)
    for seed in (was, f"{was}\n\n"):
        refuse_changed(before, config, replace(task, seeds={"naive": seed}), of_before)
    other = replace(task, seeds={"naive": load_task("softmax").naive})
    with pytest.raises(ConfigError, match="has changed since this campaign started"):
        refuse_changed(before, config, other, of_before)


def test_another_device_is_refused(of_before: Path) -> None:
    other = workbench(replace(INFO, name="something else"))
    with pytest.raises(CampaignFailed, match="times of different devices can't be compared") as e:
        resume_campaign(of_before, budgets={"evaluations": 16}, workbench=other)
    assert "something else" in str(e.value) and "\n" not in str(e.value)


# --- anchors that fail ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentEvaluator(InstantEvaluator):
    """The first anchor after the seed fails, whatever is timed against it."""

    bad_anchor: Path  # holds its id

    def measure(
        self, kernel: KernelSource, compiled: Compiled, anchor: Anchor | None, best: Any = None
    ) -> Evaluation:
        self._race(anchor)
        return InstantEvaluator.measure(self, kernel, compiled, anchor, best)

    def link(self, kernel: KernelSource, compiled: Compiled, anchor: Anchor) -> Blocks:
        self._race(anchor)
        return InstantEvaluator.link(self, kernel, compiled, anchor)

    def _race(self, anchor: Anchor | None) -> None:
        if anchor is None or anchor.kernel_id == NAIVE_ID:
            return
        if not self.bad_anchor.exists():
            self.bad_anchor.write_text(anchor.kernel_id)
        if self.bad_anchor.read_text() == anchor.kernel_id:
            raise AnchorFailed(Rejected(Status.WRONG, "y[0] is 0, expected 2"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentWorkbench(OtherWorkbench):
    bad_anchor: Path

    def open(self, device: int) -> AbstractContextManager[SpentEvaluator]:
        return nullcontext(SpentEvaluator(workbench=self, bad_anchor=self.bad_anchor))


def test_a_campaign_whose_anchor_fails_goes_on_without_it(tmp_path: Path) -> None:
    plain, bad = workbench(), tmp_path / "bad_anchor"
    spent = SpentWorkbench(
        task_hash=plain.task_hash, labels=plain.labels, binary_bytes=10, bad_anchor=bad
    )
    settings = {
        "task": "sum_reduction",
        "name": "it",
        "runs_dir": str(tmp_path),
        "tracking": "none",
        "budgets": {"evaluations": 20},
        "islands": {"count": 2},
        "devices": {"ids": [0]},
        "operators": [{"kind": "catalog"}],
    }
    seen: list[Snapshot] = []
    run_campaign(parse_config(settings, where="test"), observer=seen.append, workbench=spent)
    run_dir = tmp_path / "it"
    whole = replay(run_dir / "store.sqlite")
    check_spent(whole, events_of(run_dir, Fault), seen)
    assert f"{whole.scores.withdrawn[0].kernel_id[:12]} is withdrawn" in said(run_dir)
    resumed = resume_campaign(run_dir, budgets={"evaluations": 24}, workbench=spent)
    assert resumed.evaluations["total"] == 24


def check_spent(whole: Replay, faults: Sequence[Fault], seen: Sequence[Snapshot]) -> None:
    """No candidate is called CRASHED, no device left alone, and no withdrawn kernel is the best."""
    scores = whole.scores
    gone = {one.kernel_id for one in scores.withdrawn}
    assert len(gone) == 1 and scores.best is not None and scores.best.kernel_id not in gone
    assert scores.by_status == {"PASSED": 20 - len(gone), "WRONG": len(gone)}
    assert scores.anchors[0] == NAIVE_ID and not gone & set(scores.anchors)
    assert all("the anchor failed" in one.message or "turn" in one.message for one in faults)
    assert not any(snapshot.dispatcher.quarantined for snapshot in seen)
    assert all(island.best_id not in gone for island in seen[-1].islands)
    assert seen[-1].dispatcher.withdrawn == tuple(scores.withdrawn)
    assert all(isinstance(one, AnchorWithdrawn) for one in scores.withdrawn)
