"""Whole campaigns whose new bests are profiled, or whose devices fall ill."""

import json
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import run_campaign
from engine.cli.look.prompts import campaign_prompt
from engine.cli.result import result_lines
from engine.config import parse_config
from engine.dispatch.workbench import Built
from engine.ending import CampaignFailed
from engine.snapshot import Snapshot
from engine.store.events import CycleStarted, Drafted, Evaluated, Selected
from engine.store.kinds.profiles import Learned, Profiled
from engine.store.replay import Replay, replay
from engine.store.store import read_events
from engine.store.summary import summarise
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.processes.child_evaluator import DeviceSick
from scripts.bench_engine import InstantEvaluator
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script, ScriptedServer
from tests.engine import campaign_log as log
from tests.engine.quick_bench import QuickWorkbench, quick_workbench
from tests.engine.test_scientist_campaign import Recomputed, Run, section
from tests.evaluators.hip import test_hip_double
from tests.evaluators.profile.test_profile import ROCPROFV3, put_tool

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class HipWorkbench(QuickWorkbench):
    """Judges at once, but its kernels are a GPU's, for which there is a profiler."""

    def compile(self, source: str, info: DeviceInfo) -> Built | Evaluation:
        made = QuickWorkbench.compile(self, source, info)
        if isinstance(made, Evaluation):
            return made
        return replace(made, compiled=replace(made.compiled, backend="hip"))


# In a process of its own: the double of the HIP runtime stays loaded where it was used.
DRIVER = """
import json, sys
from dataclasses import fields
from pathlib import Path
from engine.campaign import resume_campaign, run_campaign
from engine.config import parse_config
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench
from tests.engine.test_device_campaigns import HipWorkbench

with local_ray():
    values = json.loads(sys.argv[1])
    quick = quick_workbench()
    workbench = HipWorkbench(**{one.name: getattr(quick, one.name) for one in fields(quick)})
    run_dir = Path(values["runs_dir"]) / values["name"]
    if (run_dir / "store.sqlite").exists():
        resume_campaign(run_dir, budgets=values["budgets"], workbench=workbench)
    else:
        run_campaign(parse_config(values, where="test"), workbench=workbench)
"""


def values(folder: Path, base_url: str, **changes: Any) -> dict[str, Any]:
    return {
        "task": "sgemm",
        "backend": "hip",
        "name": "it",
        "runs_dir": str(folder),
        "tracking": "none",
        "budgets": {"evaluations": 40},
        "operators": [{"kind": "llm", "mutation": 0, "crossover": 1}],
        "islands": {"count": 2, "cycles_in_flight": 2, "patience": 1000},
        "profiles": {"most": 2, "share": 1.0},
        "llm": section(base_url),
        **changes,
    }


def run(settings: dict[str, Any]) -> tuple[list[Any], Replay]:
    test_hip_double.python(DRIVER, json.dumps(settings), timeout_s=580)
    store = Path(settings["runs_dir"]) / "it" / "store.sqlite"
    return [stored.event for stored in read_events(store)], replay(store)


def of(events: list[Any], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.soak
def test_new_bests_are_profiled_and_prompts_show_it(
    double: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    put_tool(tools / "rocprofv3", ROCPROFV3, double)
    double.setenv("KEY_OF_THIS_TEST", "sk-of-this-test")
    with serving(Script(latency_s=0.02, key="sk-of-this-test")) as server:
        settings = values(tmp_path, server.base_url)
        # Everything that an island has stands in each of its tournaments.
        settings["islands"] |= {"capacity": 60, "tournament": 60}
        events, whole = run(settings)
        profiled = of(events, Profiled)
        assert 1 <= len(profiled) <= 2
        assert {one.reason for one in profiled} == {""}
        check_profiled(events, whole, server)
        settings["budgets"] = {"evaluations": 60}
        asked = len(server.log)
        later, again = run(settings)
    assert later[: len(events)] == events
    assert len(of(later, Profiled)) <= 2
    assert of(later, Profiled)[: len(profiled)] == profiled
    assert len({event.key for event in of(later, Learned)}) == len(of(later, Learned))
    assert again.scores.profiles.keys() >= whole.scores.profiles.keys()
    assert len(again.sessions) == 2
    # What the first session learned is in the prompts of the second.
    later_prompts = [one.prompt for one in server.log[asked:]]
    listed = [f"- {one.kernel_id}: {one.advice[0]}" for one in profiled]
    assert any(line in prompt for line in listed for prompt in later_prompts)
    check_recomputed(later, again, server, settings)


def check_profiled(events: list[Any], whole: Replay, server: ScriptedServer) -> None:
    first = of(events, Profiled)[0]
    assert first.advice[0].startswith("void gemm<32, 128, 128, 64>(")
    assert any("156 registers a thread" in sentence for sentence in first.advice)
    assert whole.scores.profiles[first.kernel_id] == first
    evaluated = next(e for e in of(events, Evaluated) if e.evaluation.kernel_id == first.kernel_id)
    learned = [event for event in of(events, Learned) if event.kernel_id == first.kernel_id]
    assert len(learned) == 2  # by both islands
    place = events.index(first)
    assert events.index(evaluated) < place < min(map(events.index, learned))
    prompts = [one.prompt for one in server.log]
    line = f"measured by a profiler on the largest shape: {first.advice[0]}"
    assert any(line in prompt for prompt in prompts)
    assert whole.sessions[0].device_s >= first.device_s > 0


def check_recomputed(
    events: list[Any], whole: Replay, server: ScriptedServer, settings: dict[str, Any]
) -> None:
    """Prompts follow from the log, also those that show a profile."""
    config = parse_config(settings, where="test")
    summary = summarise(whole, Path(settings["runs_dir"]) / "it")
    stored = Run(summary, events, whole, server, config)
    decisions = {event.key: event for event in of(events, Selected)}
    compared = 0
    place = events.index(of(events, Learned)[-1])
    for started in [e for e in events[place:] if isinstance(e, CycleStarted)][:6]:
        for event in Recomputed(stored, started).run():
            if isinstance(event, Selected):
                assert event == decisions[event.key]
                compared += 1
    assert compared > 0


@pytest.mark.soak
def test_without_the_tool_a_campaign_is_what_it_was(
    double: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    double.setenv("KEY_OF_THIS_TEST", "sk-of-this-test")
    with serving(Script(latency_s=0.02, key="sk-of-this-test")) as server:
        events, whole = run(values(tmp_path, server.base_url))
        prompts = [one.prompt for one in server.log]
    (note,) = of(events, Profiled)
    assert note.reason == "rocprofv3 is not on PATH, so there is no profile"
    assert of(events, Learned) == [] and whole.scores.profiles == {}
    assert whole.scores.asked == 40 and whole.faults == 0
    assert not any("profiler" in prompt for prompt in prompts)
    assert len(of(events, Drafted)) > 40


def test_the_result_and_the_preview_show_a_profile(tmp_path: Path) -> None:
    advice = ("gemm (10 us): bound by latency, keep more work in flight.",)
    events = [*log.opening(log.config(tmp_path)), *log.middle()]
    events.append(Profiled(session=0, kernel_id="wide", where="device 0", advice=advice))
    events.append(Learned(island=0, kernel_id="wide"))
    log.write(tmp_path / "short" / "store.sqlite", [*events, *log.ending()])
    whole = replay(tmp_path / "short" / "store.sqlite")
    lines = list(result_lines(summarise(whole, tmp_path / "short"), whole, None))
    place = lines.index("what a profiler says of it, on the largest shape:")
    assert lines[place + 1] == f"  {advice[0]}"
    text = campaign_prompt(tmp_path / "short", "designer")
    assert advice[0] in text


# --- devices that fall ill ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class IllWorkbench(QuickWorkbench):
    """Its device computes wrongly for as long as a file is there."""

    ill: Path

    def open(self, device: int) -> "AbstractContextManager[IllEvaluator]":
        if self.ill.exists():
            raise DeviceSick("it computes 3 where 4 is right")
        return nullcontext(IllEvaluator(workbench=self, ill=self.ill))


@dataclass(frozen=True, slots=True, kw_only=True)
class IllEvaluator(InstantEvaluator):
    ill: Path

    def measure(self, *arguments: Any) -> Evaluation:
        if self.ill.exists():
            raise DeviceSick("three kernels in a row met a fault")
        return InstantEvaluator.measure(self, *arguments)


@pytest.mark.usefixtures("in_this_process")
def test_a_campaign_whose_devices_stay_ill_ends(tmp_path: Path) -> None:
    ill = tmp_path / "ill"
    quick = quick_workbench()
    workbench = IllWorkbench(
        task_hash=quick.task_hash, labels=quick.labels, binary_bytes=10, ill=ill
    )
    settings = {
        "task": "sgemm",
        "name": "it",
        "runs_dir": str(tmp_path),
        "tracking": "none",
        "budgets": {"evaluations": 100_000},
        "devices": {"ids": [0], "patience_s": 1.0},
        "operators": [{"kind": "random"}],
    }
    seen: list[Snapshot] = []

    def observe(snapshot: Snapshot) -> None:
        seen.append(snapshot)
        if snapshot.evaluations >= 5:
            ill.touch()

    with pytest.raises(CampaignFailed) as caught:
        run_campaign(parse_config(settings, where="test"), observer=observe, workbench=workbench)
    said = str(caught.value)
    assert said.startswith("all devices have been left alone for 1 s (devices.patience_s)")
    assert "device 0: " in said and "\n" not in said
    assert any(snapshot.dispatcher.quarantined == 1 for snapshot in seen)
    ended = replay(tmp_path / "it" / "store.sqlite")
    assert ended.sessions[0].finished is not None
    assert ended.sessions[0].finished.reason == f"failed: {said}"
