"""Campaigns whose islands ask the scripted endpoint: faults, budgets, recomputation."""

import asyncio
import copy
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import run_campaign
from engine.config import CampaignConfig, parse_config
from engine.credit.meter import Meter
from engine.ending import CampaignFailed, Stopped
from engine.islands.cycle import REPAIR_SLOTS
from engine.islands.island import Island
from engine.islands.rehearsal import Rehearsal, stored_outcomes
from engine.islands.setting import Setting
from engine.llm.idea_book import IdeaBook
from engine.llm.probe_book import ProbeBook
from engine.store.events import CycleFinished, CycleStarted, Designed, Drafted, Event, Selected
from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved, GivenUp, TurnedAway
from engine.store.replay import Replay, replay
from engine.store.store import read_events
from engine.store.summary import Summary
from evaluators.evaluation import Evaluation
from evaluators.tasks.task_file import load_task
from operators.catalog import catalog_operators, random_candidate
from operators.individual import Candidate
from operators.llm.designer import focus_of
from operators.llm.question import Failure, Reply, Request, Unanswered
from operators.llm.scientist import llm_operators
from operators.operator import Context, Draft
from scripts.bench_engine import INFO
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.faults import CALL_FAULTS, REPLY_FAULTS
from scripts.scripted_model.server import Script, ScriptedServer
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench

pytestmark = pytest.mark.long

SECRET = "sk-of-this-test-0123456789"


def config(folder: Path, base_url: str, **changes: Any) -> CampaignConfig:
    values = {
        "task": "sgemm",
        "name": "it",
        "runs_dir": str(folder),
        "tracking": "none",
        "budgets": {"evaluations": 60, "tuning": 40},
        "operators": [{"kind": "llm", "mutation": 0, "crossover": 2}],
        "islands": {"count": 2, "cycles_in_flight": 3, "patience": 1000},
        "llm": section(base_url),
    }
    return parse_config({**values, **changes}, where="test")


def section(base_url: str) -> dict[str, Any]:
    model = {
        "model": "scripted",
        "stream": False,
        "max_tokens": 2000,
        "dollars_per_million_prompt": 1.0,
        "dollars_per_million_completion": 4.0,
    }
    return {
        "base_url": base_url,
        "api_key_env": "KEY_OF_THIS_TEST",
        "models": {"main": model},
        "timeout_s": 4.0,
        "retries": 8,
    }


@pytest.fixture(autouse=True, scope="module")
def key() -> Iterator[None]:
    os.environ["KEY_OF_THIS_TEST"] = SECRET
    yield
    del os.environ["KEY_OF_THIS_TEST"]


@dataclass(frozen=True, slots=True)
class Run:
    """A finished campaign: what it said, its log, and the endpoint's."""

    summary: Summary
    events: list[Event]
    whole: Replay
    server: ScriptedServer
    config: CampaignConfig

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def run_of(summary: Summary, server: ScriptedServer, config: CampaignConfig) -> Run:
    store = Path(summary.run_dir) / "store.sqlite"
    events = [stored.event for stored in read_events(store)]
    return Run(summary, events, replay(store), server, config)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory, key: None) -> Run:
    """A fifth of the calls fails, a fifth of the replies is spoilt."""
    script = Script(fail=0.2, malform=0.2, seed=5, key=SECRET, latency_s=0.02)
    with serving(script) as server:
        chosen = config(tmp_path_factory.mktemp("faulty"), server.base_url)
        with local_ray():
            summary = run_campaign(chosen, workbench=quick_workbench())
        while server.in_flight:  # until the endpoint has noted what was cut off
            time.sleep(0.01)
        return run_of(summary, server, chosen)


def test_a_campaign_completes_though_much_fails(faulty: Run) -> None:
    evaluations = faulty.summary.evaluations
    assert evaluations["total"] - evaluations["in_idle_time"] == 60
    assert evaluations["in_idle_time"] <= 40
    assert faulty.summary.ended == "the evaluations are spent"
    assert faulty.summary.faults == 0
    islands = Counter(event.island for event in faulty.of(Drafted))
    assert min(islands.values()) > 10, "an island stalled"


def test_every_failure_is_counted_under_its_kind(faulty: Run) -> None:
    calls = faulty.summary.calls
    assert calls is not None
    counted = Counter(calls.failures)
    seen = Counter(one.fault for one in faulty.server.log)
    cut_off = counted.pop("cancelled", 0)
    # On a busy machine an answer may be late, whatever it would have been.
    late = max(0, counted["timeout"] - seen["timeout"])
    for fault in CALL_FAULTS:
        # A call that was cut off may have been failing at that moment.
        most = counted["timeout"] if fault == "timeout" else seen[fault]
        assert seen[fault] - cut_off - late <= counted[fault] <= most
    replies = {reply.request for reply in faulty.of(CallReplied)}
    rejected = faulty.of(TurnedAway)
    assert {event.request for event in rejected} <= replies
    assert counted[Failure.PROSE_ONLY] and counted[Failure.REFUSAL]
    assert sum(counted[fault] for fault in REPLY_FAULTS) <= len(rejected)
    assert calls.calls == len(faulty.of(CallReserved))
    # One that was cut off, or was late, may not have been sent yet.
    assert calls.calls - cut_off - late <= len(faulty.server.log) <= calls.calls
    assert calls.in_flight == calls.lost == 0


def test_every_call_is_reserved_settled_and_used_once(faulty: Run) -> None:
    reserved = [event.key for event in faulty.of(CallReserved)]
    settled = [event.key for event in faulty.events if isinstance(event, CallReplied | CallFailed)]
    assert sorted(reserved) == sorted(settled)
    place = {(type(event), event.key): i for i, event in enumerate(faulty.events)}
    for key in settled:
        end = place.get((CallReplied, key)) or place[CallFailed, key]
        assert place[CallReserved, key] < end
    answered = Counter(event.request for event in faulty.of(CallReplied))
    assert set(answered.values()) == {1}
    # A finished cycle's selections and drafts come from replies, once each.
    decided = {event.key for event in faulty.of(Selected) if event.selection.decided_by == "model"}
    for key in decided:
        assert any(request.startswith(f"{key}/select/selector/") for request in answered)
    for drafted in faulty.of(Drafted):
        if not drafted.cycle:
            continue  # seeds, and mutations in idle device time
        role = {"experiment": "writer"}.get(drafted.origin, drafted.origin)
        asked = [r for r in answered if r.startswith(f"{drafted.key}/{role}/")]
        assert asked, drafted.key


def test_failed_candidates_were_given_back(faulty: Run) -> None:
    repairs = [event for event in faulty.of(Drafted) if event.origin == "repair"]
    assert repairs
    failed = {i for i, e in faulty.whole.scores.evaluations.items() if not e.passed}
    assert {event.repairs for event in repairs} <= failed
    drafted = {event.key: event for event in faulty.of(Drafted)}
    for event in repairs:
        before = drafted[f"i{event.island}/c{event.cycle}/s{event.slot - REPAIR_SLOTS}"]
        assert (event.repairs, event.parents) == (before.kernel_id, before.parents)


def test_no_prompt_holds_a_secret_or_a_path(faulty: Run) -> None:
    values = [v for k, v in os.environ.items() if len(v) >= 8 and v != "kernel-scientist"]
    paths = (str(Path.cwd()), str(Path.home()) + "/", faulty.summary.run_dir)
    prompts = [one.prompt for one in faulty.server.log if one.body]
    assert len(prompts) > 100
    for prompt in prompts:
        assert SECRET not in prompt
        assert not [value for value in values if value in prompt]
        assert not [path for path in paths if path in prompt]
        assert not re.search(r"(?<![\w<])/(home|root|tmp|usr)/", prompt)


def test_the_key_is_in_no_file_of_the_run(faulty: Run) -> None:
    files = [path for path in Path(faulty.summary.run_dir).rglob("*") if path.is_file()]
    assert {"store.sqlite", "report.html"} <= {path.name for path in files}
    for path in files:
        assert SECRET.encode() not in path.read_bytes()


# --- recomputation ------------------------------------------------------------------------------


class StoredModel:
    """Answers from a log, and only where the question is the very same."""

    def __init__(self, run: Run) -> None:
        self.outcomes: dict[str, Reply | Unanswered] = {}
        self.hashes = {event.request: event.prompt_hash for event in run.of(CallReserved)}
        for event in run.events:
            if isinstance(event, CallReplied):
                self.outcomes[event.request] = event.reply
            elif isinstance(event, GivenUp):
                self.outcomes[event.request] = event.outcome

    async def complete(self, request: Request) -> Reply | Unanswered:
        if request.key not in self.outcomes:
            raise Stopped  # it was not answered when the campaign ended
        assert request.prompt_hash == self.hashes[request.key], request.key
        return self.outcomes[request.key]

    def turned_away(self, request: Request, kind: Failure, reason: str) -> None:
        pass  # counted when it happened


class Recomputed:
    """One cycle's decisions made again by an island that knows what it knew then."""

    def __init__(self, run: Run, started: CycleStarted) -> None:
        self.events: list[Event] = []
        self._evaluations: Mapping[str, Evaluation] = run.whole.scores.evaluations
        task = load_task("sgemm")
        lone = run.config.islands.model_copy(update={"cycles_in_flight": 1})
        assert run.config.llm is not None
        mix = run.config.operators_of(started.island)
        meter = Meter(StoredModel(run), run.config.llm, mix, started.island)
        setting = Setting(
            config=run.config.model_copy(update={"islands": lone}),
            task=task,
            device=INFO,
            meter=meter,
            operators=llm_operators(
                meter,
                catalog_operators(task, INFO),
                novelty=0.995,
                focus=focus_of(started.island, run.config.islands.count),
            ),
            random_candidate=self._random_candidate,
            journal=self,
            evaluate=self._evaluate,
            evaluate_idle=self._evaluate,
            send=lambda source, destination, round, elites: None,
            ideas=IdeaBook(self, earlier=run.whole.ideas),
            probes=ProbeBook(
                self, most=run.config.probes.most, log=copy.deepcopy(run.whole.probes)
            ),
        )
        history = run.whole.history(started.island)
        until = [event for event, _ in history].index(started)
        self._island = Island(started.island, setting)
        for event, individuals in history[: until + 1]:
            if event == started or not isinstance(event, CycleStarted):
                self._island.restore([(event, individuals)])
            else:  # only what it was told of then
                self._island.hear(individuals)
                self._island._memory.take_heard()

    def run(self) -> list[Event]:
        asyncio.run(self._island.run())
        return self.events

    def post(self, event: Event) -> None:
        self.events.append(event)

    async def commit(self, event: Event) -> None:
        if isinstance(event, CycleFinished):
            raise Stopped  # this cycle is all that is wanted
        self.events.append(event)

    async def _evaluate(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        if kernel_id not in self._evaluations:
            raise Stopped
        return self._evaluations[kernel_id]

    async def _random_candidate(self, context: Context) -> Draft:
        return random_candidate(context.task, context.rng)


def test_decisions_follow_from_the_stored_replies(faulty: Run) -> None:
    decisions = {
        (type(event), event.key): event
        for event in faulty.events
        if isinstance(event, Selected | Designed | Drafted)
    }
    drafted_ids = {event.kernel_id for event in faulty.of(Drafted)}
    compared: Counter[type] = Counter()
    for started in faulty.of(CycleStarted):
        for event in Recomputed(faulty, started).run():
            if not isinstance(event, Selected | Designed | Drafted):
                continue
            before = decisions.get((type(event), event.key))
            if isinstance(event, Drafted) and before is None:
                assert event.kernel_id in drafted_ids  # somebody else's by then, so not drafted
                continue
            assert event == before
            compared[type(event)] += 1
    assert compared[Selected] > 10 and compared[Designed] > 10 and compared[Drafted] > 40


def test_a_rehearsal_asks_what_was_asked(faulty: Run) -> None:
    """What `prompts` shows of any cycle is what was sent, on islands that tell each other."""
    hashes = {event.request: event.prompt_hash for event in faulty.of(CallReserved)}
    store = Path(faulty.summary.run_dir) / "store.sqlite"
    outcomes = stored_outcomes(read_events(store))
    compared = 0
    for started in faulty.of(CycleStarted):
        rehearsal = Rehearsal(
            whole=faulty.whole,
            outcomes=outcomes,
            config=faulty.config,
            task=load_task("sgemm"),
            device=INFO,
            island=started.island,
        )
        for request in rehearsal.cycle(started.cycle):
            if request.key in hashes:
                assert request.prompt_hash == hashes[request.key], request.key
                compared += 1
    assert compared > 0.9 * len(hashes)


# --- budgets and ends ---------------------------------------------------------------------------


@pytest.mark.usefixtures("in_this_process")
def test_a_budget_in_dollars_ends_a_campaign(tmp_path: Path) -> None:
    with serving(Script(key=SECRET, latency_s=0.02)) as server:
        chosen = config(tmp_path, server.base_url, budgets={"evaluations": 10_000, "dollars": 0.3})
        run = run_of(run_campaign(chosen, workbench=quick_workbench()), server, chosen)
    calls = run.summary.calls
    assert calls is not None
    assert calls.dollars <= 0.3
    assert calls.dollars > 0.2
    assert run.summary.ended.startswith("the budget of 0.3 dollars is spent: ")
    assert calls.calls == len(server.log)
    assert "cancelled" not in calls.failures


@pytest.mark.usefixtures("in_this_process")
def test_what_is_in_flight_covers_what_is_left_and_no_call_is_cut_off(tmp_path: Path) -> None:
    """Six lanes, three candidates a cycle, a third of the replies of no use, and a budget of 9."""
    with serving(Script(key=SECRET, latency_s=0.03, malform=0.3, seed=2)) as server:
        chosen = config(tmp_path, server.base_url, budgets={"evaluations": 9})
        run = run_of(run_campaign(chosen, workbench=quick_workbench()), server, chosen)
    asked = run.summary.evaluations["total"] - run.summary.evaluations["in_idle_time"]
    assert asked == 9
    assert run.summary.ended == "the evaluations are spent"
    assert run.summary.calls is not None
    assert "cancelled" not in run.summary.calls.failures
    evaluated = run.whole.scores.evaluations
    written = {event.kernel_id for event in run.of(Drafted) if event.origin != "mutation"}
    assert written <= set(evaluated)
    assert server.most_in_flight <= 8  # the seed is one of the nine


def test_an_absent_endpoint_is_one_sentence(tmp_path: Path) -> None:
    with serving(Script()) as server:
        gone = server.base_url
    with pytest.raises(CampaignFailed) as caught:
        run_campaign(config(tmp_path, gone), workbench=quick_workbench())
    assert str(caught.value).startswith(f"nothing answers at {gone}")
    assert "\n" not in str(caught.value)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_two_hundred_evaluations_on_cpu_though_much_fails(tmp_path: Path) -> None:
    """Compiled, checked and timed for real."""
    with serving(Script(fail=0.2, malform=0.2, key=SECRET, latency_s=0.2)) as server:
        chosen = config(tmp_path, server.base_url, budgets={"evaluations": 200})
        summary = run_campaign(chosen)
    assert summary.evaluations["total"] - summary.evaluations["in_idle_time"] == 200
    assert summary.best is not None and summary.best.speedup > 2
    assert summary.calls is not None
    assert {*CALL_FAULTS, "prose_only", "refusal"} <= set(summary.calls.failures)
