"""Campaigns whose designers ask for probes: answered once, told to all, and kept."""

import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.store.events import CycleStarted, Designed, Event
from engine.store.kinds.calls import CallReserved
from engine.store.kinds.probes import ProbeClaimed, Probed, ProbeHeard, ProbesTold, ProbeWritten
from engine.store.replay import replay
from evaluators.cxx import CACHE_VARIABLE
from evaluators.probes.shipped import shipped
from scripts.bench_engine import INFO
from scripts.scripted_model.answers import asking
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from tests.engine import test_scientist_campaign
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench
from tests.engine.test_probing_kills import check_probes
from tests.engine.test_scientist_campaign import SECRET, Recomputed, Run, config, run_of

pytestmark = pytest.mark.long
key = test_scientist_campaign.key

MOST = 5


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder of this module's own."""
    before = os.environ.get(CACHE_VARIABLE)
    folder = tmp_path_factory.mktemp("cache")
    os.environ[CACHE_VARIABLE] = str(folder)
    yield folder
    if before is None:
        del os.environ[CACHE_VARIABLE]
    else:
        os.environ[CACHE_VARIABLE] = before


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, key: None, cache: Path) -> Iterator[Run]:
    with serving(Script(rule=asking, key=SECRET, latency_s=0.02)) as server:
        folder = tmp_path_factory.mktemp("asking")
        chosen = config(folder, server.base_url, budgets={"evaluations": 60}, probes={"most": MOST})
        with local_ray():
            summary = run_campaign(chosen, workbench=quick_workbench())
        yield run_of(summary, server, chosen)


def test_as_many_are_asked_written_and_answered_as_there_may_be(asked: Run) -> None:
    granted = [one for one in asked.of(ProbeClaimed) if one.became == "granted"]
    assert len(granted) == MOST
    assert sorted(one.key for one in granted) == sorted(one.key for one in asked.of(ProbeWritten))
    own = shipped(INFO)
    answers = asked.of(Probed)
    assert len(answers) == len({one.key for one in answers}) == len(own) + MOST
    assert {one.asked_by for one in answers if not one.shipped} == {one.key for one in granted}
    assert all(one.answer.passed for one in answers)
    assert asked.summary.evaluations["total"] - asked.summary.evaluations["in_idle_time"] == 60


def test_every_answer_is_stored_before_an_island_is_told_and_each_is_told_once(asked: Run) -> None:
    place = {(event.kind, event.key): i for i, event in enumerate(asked.events)}
    for answer in asked.of(Probed):
        for island in range(2):
            assert place["probed", answer.key] < place["probe_heard", f"i{island}/{answer.key}"]
    assert len(asked.of(ProbeHeard)) == 2 * len(asked.of(Probed))


def test_prompts_show_what_was_told_when_their_cycle_began(asked: Run) -> None:
    """Shipped answers first; the seed's designer knows none that was asked for."""
    place = {(event.kind, event.key): i for i, event in enumerate(asked.events)}
    answers = {one.key: one for one in asked.of(Probed)}
    shown = 0
    for started in asked.of(CycleStarted):
        began = place["cycle_started", started.key]
        known = [
            answers[heard.probe_id]
            for heard in asked.of(ProbeHeard)
            if heard.island == started.island and place["probe_heard", heard.key] < began
        ]
        lines = [f"- {one.told}" for one in sorted(known, key=lambda one: not one.shipped)]
        for call in asked.of(CallReserved):
            if call.request.startswith(f"{started.key}/") and "selector" not in call.request:
                section = call.prompt[1].content.partition("# Measured on this device by probes\n")
                assert section[2].split("\n\n")[0].splitlines() == lines
                shown += bool(lines)
    assert shown > 10


def test_designers_are_told_what_is_left_and_what_was_asked(asked: Run) -> None:
    prompts = {one.request: one.prompt for one in asked.of(CallReserved)}
    told = {one.key: one for one in asked.of(ProbesTold)}
    granted = [one.question for one in asked.of(ProbeClaimed) if one.became == "granted"]
    ends = set()
    for key, left in told.items():
        system, user = prompts[f"{key}/design/designer/0"]
        offered = "# Probes" in system.content
        assert offered == ("# Probes" in user.content) == (left.left > 0)
        ends.add(offered)
        if offered:
            assert f"{left.left} probe" in user.content
            assert [one in user.content for one in granted].count(True) == left.count
    assert ends == {True, False}, "the budget was never spent"


def test_designs_and_files_follow_from_the_stored_replies(asked: Run) -> None:
    """The very same questions are asked again: else the stored model refuses them."""
    designs = {one.key: one for one in asked.of(Designed)}
    seen = 0
    for started in asked.of(CycleStarted):
        for event in Recomputed(asked, started).run():
            if isinstance(event, Designed):
                assert event == designs[event.key]
                seen += len(event.design.probes)
    assert seen >= MOST


@pytest.mark.parametrize(
    "kind",
    [
        *(
            pytest.param(one, marks=pytest.mark.soak)
            for one in ("call_replied", "probe_written", "probe_claimed", "probed")
        ),
    ],
)
def test_a_kill_after_any_step_loses_no_probe_and_pays_for_none_twice(
    asked: Run, tmp_path: Path, kind: str
) -> None:
    shutil.copytree(asked.summary.run_dir, tmp_path / "it")
    store = tmp_path / "it" / "store.sqlite"
    last = next(
        one for one in asked.events if one.kind == kind and re.match(r"i\d/c\d+/p0", _asker(one))
    )
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(
            "DELETE FROM events WHERE seq > (SELECT seq FROM events WHERE kind = ? AND key = ?)",
            (kind, last.key),
        )
    known = replay(store)
    answered = {request for request in known.calls.outcomes if "/p" in request}
    calls = len(asked.server.log)
    with local_ray():
        summary = resume_campaign(tmp_path / "it", workbench=quick_workbench())
    run = run_of(summary, asked.server, asked.config)
    check_probes(run)
    for key, claim in known.probes.claims.items():
        again = [
            one
            for one in asked.server.log[calls:]
            if f"# The question\n{claim.question}" in one.prompt
        ]
        paid = key in known.probes.written or f"{key}/writer/0" in answered
        assert len(again) == (claim.became == "granted" and not paid), key


def _asker(event: Event) -> str:
    """The key of the claim that an event is about."""
    return getattr(event, "asked_by", event.key)


def test_a_second_campaign_has_the_shipped_answers_at_once(
    asked: Run, tmp_path: Path, key: None
) -> None:
    with serving(Script(key=SECRET)) as server:
        chosen = config(tmp_path, server.base_url, budgets={"evaluations": 5})
        with local_ray():
            run = run_of(run_campaign(chosen, workbench=quick_workbench()), server, chosen)
    answers = run.of(Probed)
    assert {one.key for one in answers} == {one.id for one in shipped(INFO)}
    assert {(one.where, one.device_s) for one in answers} == {("", 0.0)}
    first = next(one for one in run.of(CallReserved) if one.role == "designer")
    assert "# Measured on this device by probes" in first.prompt[1].content


def test_nothing_is_probed_where_nobody_would_be_told(tmp_path: Path, key: None) -> None:
    with serving(Script(rule=asking, key=SECRET)) as server:
        off = config(tmp_path, server.base_url, budgets={"evaluations": 5}, probes="off")
        alone = config(tmp_path, "http://127.0.0.1:9/v1", name="alone", operators=[{}])
        alone = alone.model_copy(update={"budgets": off.budgets})
        for chosen in (off, alone):
            with local_ray():
                run = run_of(run_campaign(chosen, workbench=quick_workbench()), server, chosen)
            assert not [one for one in run.events if one.kind.startswith("prob")]
    assert not [one for one in server.log if "# Probes" in one.prompt]
