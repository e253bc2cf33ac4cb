"""Whole campaigns: what they distil, who is told, what a person's edits and a kill come to."""

import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from engine.findings.distillation import Distillation
from engine.findings.file import write_findings
from engine.findings.reader import read_findings
from engine.islands.memory import Memory
from engine.snapshot import Snapshot
from engine.store.events import Event, to_row
from engine.store.kinds.calls import CallReplied, CallReserved
from engine.store.kinds.findings import Distilled, FindingsTold
from engine.store.replay import replay
from engine.store.store import Store, read_events
from evaluators.tasks.task_file import load_task
from operators.finding import lines
from scripts.scripted_model.answers import answer, role_of
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench

pytestmark = pytest.mark.long


def config(folder: Path, name: str = "it", **changes: Any) -> CampaignConfig:
    values: dict[str, Any] = {
        "task": "sgemm",
        "name": name,
        "runs_dir": str(folder),
        "tracking": "none",
        "budgets": {"evaluations": 60},
        "islands": {"count": 2, "patience": 1000},
        "findings": {"every": 20},
        "final": {"seconds": 0},
        "devices": {"ids": [0]},
    }
    return parse_config({**values, **changes}, where="test")


def run(settings: CampaignConfig) -> tuple[Path, list[Event], list[Snapshot]]:
    seen: list[Snapshot] = []
    with local_ray():
        run_campaign(settings, workbench=quick_workbench(), observer=seen.append)
    folder = settings.runs_dir / settings.name
    return folder, events_of(folder), seen


def events_of(folder: Path) -> list[Event]:
    return [stored.event for stored in read_events(folder / "store.sqlite")]


def distilled_in(events: list[Event]) -> list[Distilled]:
    return [one for one in events if isinstance(one, Distilled)]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder, _, _ = run(config(tmp_path_factory.mktemp("first"), "first"))
    yield folder


def test_a_campaign_of_the_catalogue_distils_on_its_way_and_at_its_end(first: Path) -> None:
    events = events_of(first)
    made = distilled_in(events)
    assert [one.number for one in made] == list(range(1, len(made) + 1)) and len(made) >= 2
    assert made[-1].evaluations == 60
    assert any(one.about.params for one in made[-1].findings)
    told = [one for one in events if isinstance(one, FindingsTold)]
    assert {one.island for one in told} == {0, 1}
    assert {one.id for one in read_findings(first / "findings.yaml").findings} == {
        one.id for one in made[-1].findings
    }
    ids = set(replay(first / "store.sqlite").first_drafts)
    for one in made[-1].findings:
        assert set(one.shown_by) <= ids and one.shown_by
    page = (first / "report.html").read_text()
    assert '<section id="findings">' in page and "start from family" in page


def test_islands_are_told_the_same_after_a_kill(first: Path) -> None:
    whole = replay(first / "store.sqlite")
    known = [event for event, _ in whole.history(0) if isinstance(event, Distilled)]
    assert known
    memory = Memory(10, config(first.parent).operators_of(0))
    for event in known:
        assert memory.know(event, whole.campaign.task_hash)
    assert not memory.know(known[-1], whole.campaign.task_hash)
    assert memory.knowledge.findings == lines(known[-1].findings, whole.campaign.task_hash)


def test_what_another_campaign_found_is_begun_with(first: Path, tmp_path: Path) -> None:
    folder, events, seen = run(
        config(tmp_path, "two", findings=[str(first)], budgets={"evaluations": 12})
    )
    (zero, *_) = distilled_in(events)
    assert zero.number == 0 and zero.findings and not zero.refused
    assert {one.origin for one in zero.findings} == {"first"}
    drafts = replay(folder / "store.sqlite").drafts.values()
    (point,) = [one.about for one in zero.findings if one.about.params]
    values = ", ".join(f"{key} = {value}" for key, value in point.params.items())
    beginning = [one.report for one in drafts if one.cycle == 1]
    assert f"initial design: {point.family}, {values}" in beginning
    assert not seen[-1].findings_refused


def test_findings_of_another_device_are_not_used_and_it_is_said(
    first: Path, tmp_path: Path
) -> None:
    path = tmp_path / "there.yaml"
    told = read_findings(first / "findings.yaml").condition.device_class
    text = (first / "findings.yaml").read_text()
    write_findings(path, re.sub(r"device_class: [^}\n]+", "device_class: cuda/H200", text))
    assert told not in path.read_text()
    folder, events, seen = run(
        config(
            tmp_path,
            "three",
            findings={"from": [str(path)], "every": 0},
            budgets={"evaluations": 4},
        )
    )
    (zero,) = distilled_in(events)
    assert zero.findings == () and "for device class cuda/H200" in zero.refused[0]
    assert seen[-1].findings_refused == zero.refused
    assert "for device class cuda/H200" in (folder / "report.html").read_text()
    assert not (folder / "findings.yaml").exists()  # every: 0


def test_a_file_that_can_t_be_read_stops_a_campaign_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"findings\.sources: .*nothing\.yaml can't be read"):
        run(config(tmp_path, "four", findings=[str(tmp_path / "nothing.yaml")]))
    assert not (tmp_path / "four").exists()


# --- the file and the log ---------------------------------------------------------------------


def follower(folder: Path) -> Distillation:
    made = Distillation(folder, load_task("sgemm"), every=20)
    made.record(read_events(folder / "store.sqlite"))
    return made


def copied(first: Path, folder: Path) -> Path:
    there = folder / "copy"
    there.mkdir()
    for name in ("store.sqlite", "findings.yaml"):
        (there / name).write_bytes((first / name).read_bytes())
    return there


def test_a_person_s_edits_are_kept_over_later_distillations(first: Path, tmp_path: Path) -> None:
    there = copied(first, tmp_path)
    path = there / "findings.yaml"
    gone = read_findings(path).findings[0].id
    text = path.read_text()
    start = text.index(f"- id: {gone}")
    end = min(place for mark in ("\n- id", "\ntraps:") if (place := text.find(mark, start + 1)) > 0)
    text = text[:start] + text[end + 1 :]
    write_findings(
        path, text.replace("traps:", "traps:\n- rule: Never touch K", 1).replace("K []", "K")
    )
    for _ in range(2):
        made = follower(there)
        event = made.draft().event()
        with Store(there / "store.sqlite") as store:
            store.append([to_row(event)])
        made.record(read_events(there / "store.sqlite", after=made.position))
        made.write(event)
        found = {one.rule: one for one in event.findings}
        assert found["Never touch K"].by == "person"
        assert gone not in {one.id for one in event.findings} and gone in event.dropped
        assert "Never touch K" in path.read_text()


def test_a_broken_file_is_left_alone_and_said_to_be_broken(first: Path, tmp_path: Path) -> None:
    there = copied(first, tmp_path)
    path = there / "findings.yaml"
    path.write_text("wins: [\n")
    made = follower(there)
    made.write(made.draft().event())
    assert path.read_text() == "wins: [\n"
    assert "findings.yaml, line 2" in made.trouble and "mend the file" in made.trouble


def test_an_edit_while_a_model_is_asked_is_taken_in(first: Path, tmp_path: Path) -> None:
    there = copied(first, tmp_path)
    path, made = there / "findings.yaml", follower(there)
    event = made.draft().event()
    mine = "traps:\n- rule: Leave the edges alone"
    said = re.sub(r"^traps:( \[\])?$", mine, path.read_text(), count=1, flags=re.MULTILINE)
    path.write_text(said)
    assert not made.write(event) and path.read_text() == said
    again = made.draft()
    assert "Leave the edges alone" in [one.rule for one in again.before]
    assert made.write(again.event()) and made.write(again.event())
    assert {one.rule: one.by for one in read_findings(path).findings}[
        "Leave the edges alone"
    ] == "person"


# --- models -----------------------------------------------------------------------------------


def asking(folder: Path, url: str, **changes: Any) -> CampaignConfig:
    return config(
        folder,
        operators=[{"kind": "llm", "mutation": 0, "crossover": 0}],
        llm={"base_url": url, "models": {"main": {"model": "scripted", "max_tokens": 2000}}},
        **changes,
    )


@pytest.mark.soak
def test_a_model_has_its_part_and_a_resumption_pays_for_it_once(tmp_path: Path) -> None:
    with serving(Script(seed=3)) as server:
        folder, events, _ = run(asking(tmp_path, server.base_url))
        asked = [e for e in events if isinstance(e, CallReserved) and e.role == "distiller"]
        assert asked and {one.request.split("/")[0] for one in asked} >= {"d1"}
        made = distilled_in(events)
        assert all("a model brought" in one.model for one in made)
        assert made[-1].evaluations == 60  # asked when all was measured
        said = [one for event in made for one in event.findings if one.by == "model"]
        ids = set(replay(folder / "store.sqlite").first_drafts)
        assert said and all(set(one.shown_by) <= ids and one.ratio for one in said)
        _cut_after_the_reply(folder)
        cut = events_of(folder)
        assert not distilled_in(cut)
        paid = {e.request for e in cut if isinstance(e, CallReplied)}
        before = server.calls
        with local_ray():
            resume_campaign(folder, workbench=quick_workbench())
        after = events_of(folder)
    again = [e for e in after if isinstance(e, CallReplied) and e.request == "d1/distiller/0"]
    assert "d1/distiller/0" in paid and len(again) == 1 and server.calls > before
    assert distilled_in(after)[0].number == 1
    assert "a model brought" in distilled_in(after)[0].model


def _cut_after_the_reply(folder: Path) -> None:
    """What a kill leaves that comes when the distiller's reply is stored, and nothing after it."""
    with sqlite3.connect(folder / "store.sqlite") as store:
        (seq,) = store.execute(
            "select seq from events where kind = 'call_replied' and key like 'd1/distiller/0%'"
        ).fetchone()
        store.execute("delete from events where seq > ?", (seq,))
    os.unlink(folder / "findings.yaml")


@pytest.mark.soak
def test_a_model_that_fails_leaves_the_templates(tmp_path: Path) -> None:
    def rule(messages: Any, number: int) -> str:
        return "No idea." if role_of(messages) == "distiller" else answer(messages, number)

    with serving(Script(seed=3, rule=rule)) as server:
        _, events, _ = run(asking(tmp_path, server.base_url))
    made = distilled_in(events)
    assert made[0].model.startswith("no model had part in it: distiller: ")
    assert made[0].findings and not [one for one in made[0].findings if one.by == "model"]
