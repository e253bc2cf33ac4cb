"""What findings save: a second campaign with the first one's, without them, and with another's.

python -m scripts.bench_findings --seeds 10 --out docs/measured/findings.json

Two islands ask one scripted mind (scripts/scripted_model/mind.py) that has thirty ideas for a
matrix product and follows findings: ideas that won come to it first, traps are left. An idea has a
gain of its own, drawn for the seed, that the kernels hold which it was made into; nothing is
compiled or run, and times vary as on a GPU that is simulated. Each seed has four campaigns of as
many evaluations, the last three with another order of ideas than the first:

- one: without findings; its file is what is brought along after it;
- with: begins with the findings of one;
- without: begins with nothing, as one did;
- foreign: begins with the findings of one, and measures on another class of device.

Counted are the calls of models until an evaluation is as fast as the best of campaign one; a
campaign that never is counts with all of its calls. ratio: of the calls of `with` to those that
campaign one took to its best, over seeds, with a 95% bootstrap interval of the mean of its
logarithm; target: at most 0.5. foreign says what it refused. All is done twice: with findings
distilled at the end alone, so that campaign one has none of its own, and every 20 evaluations.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engine.campaign import run_campaign
from engine.config import parse_config
from engine.store.events import Evaluated
from engine.store.kinds.calls import CallReplied
from engine.store.kinds.findings import Distilled
from engine.store.run_folder import STORE
from engine.store.store import read_events
from evaluators.device_info import DeviceInfo
from evaluators.processes.child_evaluator import RemoteDevice
from evaluators.tasks.task_file import load_task
from scripts.bench_engine import INFO
from scripts.llm_loop.shared_memory import (
    TASK,
    GainEvaluator,
    GainWorkbench,
    Place,
    gains_of,
    interval,
)
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.mind import ScriptedMind
from scripts.scripted_model.server import MODEL, Script

GPU = replace(INFO, name="a simulated GPU", private_process=True)
OTHER = replace(GPU, name="another simulated GPU")
AT_THE_END = 1000
AS_FAST = 0.98
"""Of campaign one's best, by the search's own races, which differ by as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedWorkbench(GainWorkbench):
    """On a device of that description."""

    info: DeviceInfo

    def open(self, device: int) -> AbstractContextManager[GainEvaluator]:
        there = RemoteDevice(self.info)
        return nullcontext(GainEvaluator(workbench=self, gains=self.gains, device=there))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One campaign. calls: until an evaluation was as fast as the goal, evaluations likewise;
    reached: whether one was. best: speedup. brought: rules it began with; refused: and why not."""

    calls: int
    evaluations: int
    reached: bool
    best: float
    all_calls: int
    findings: int
    brought: int = 0
    refused: tuple[str, ...] = ()


def run_one(
    folder: Path,
    name: str,
    *,
    seed: int,
    order: int,
    every: int,
    given: argparse.Namespace,
    goal: float | None,
    place: Place,
    info: DeviceInfo = GPU,
    sources: Sequence[Path] = (),
) -> Run:
    """seed: of what ideas are worth; order: of which come to mind first. goal: a speedup; None:
    the campaign's own best."""
    task = load_task(TASK)
    workbench = SimulatedWorkbench(
        task_hash=task.hash,
        labels=tuple(w.label for w in task.workloads("benchmarks", "cpu")),
        binary_bytes=100,
        gains=gains_of(seed),
        info=info,
    )
    mind = ScriptedMind(seed=order, pull=given.pull, follows=True)
    script = Script(rule=mind, latency_s=given.latency, spread=0.5, chunks=1, seed=order)
    with serving(script) as server:
        values = {
            "task": TASK,
            "name": name,
            "runs_dir": str(folder),
            "seed": order,
            "budgets": {"evaluations": given.evaluations + 1},
            "islands": {"count": 2, "cycles_in_flight": 1, "patience": 1000},
            "operators": [{"kind": "llm", "experiment": 1, "crossover": 0, "mutation": 0}],
            "devices": {"ids": [0]},
            "findings": {"every": every, "sources": [str(one) for one in sources]},
            "final": {"seconds": 0},
            "tracking": "none",
            "llm": {
                "base_url": server.base_url,
                "models": {"mind": {"model": MODEL, "max_tokens": 1024}},
            },
        }
        config = parse_config(values, where="scripts/bench_findings.py")
        with place():
            run_campaign(config, workbench=workbench)
    return _counted(folder / name, goal)


def _counted(run_dir: Path, goal: float | None) -> Run:
    events = [one.event for one in read_events(run_dir / STORE)]
    first = [e for e in events if isinstance(e, Evaluated) and e.number == 0]
    best = max(e.evaluation.speedup or 0.0 for e in first)
    wanted = best if goal is None else AS_FAST * goal
    calls = evaluations = 0
    reached = False
    for event in events:
        calls += isinstance(event, CallReplied)
        if isinstance(event, Evaluated) and event.number == 0:
            evaluations += 1
            reached = (event.evaluation.speedup or 0.0) >= wanted
        if reached:
            break
    made = [e for e in events if isinstance(e, Distilled)]
    began = made[0] if made and made[0].number == 0 else None
    return Run(
        calls=calls,
        evaluations=evaluations,
        reached=reached,
        best=round(best, 3),
        all_calls=sum(isinstance(e, CallReplied) for e in events),
        findings=sum(not one.fallen for one in made[-1].findings) if made else 0,
        brought=len(began.findings) if began else 0,
        refused=began.refused if began else (),
    )


def measured(given: argparse.Namespace, every: int, place: Place) -> dict[str, Any]:
    """every: see --every."""
    runs: list[dict[str, Run]] = []
    for seed in range(given.first, given.first + given.seeds):
        with tempfile.TemporaryDirectory() as text:
            folder, another = Path(text), seed + 1000
            common: dict[str, Any] = {
                "seed": seed,
                "given": given,
                "every": every,
                "place": place,
            }
            one = run_one(folder, "one", order=seed, goal=None, **common)
            later: dict[str, Any] = {**common, "order": another, "goal": one.best}
            brought = [folder / "one"]
            made = {
                "one": one,
                "with": run_one(folder, "with", sources=brought, **later),
                "without": run_one(folder, "without", **later),
                "foreign": run_one(folder, "foreign", sources=brought, info=OTHER, **later),
            }
        runs.append(made)
        print(f"{seed}: {made}".replace(text, "RUNS"), file=sys.stderr, flush=True)
    return {"first_seed": given.first, **told(runs, given.evaluations)}


def told(runs: Sequence[dict[str, Run]], evaluations: int) -> dict[str, Any]:
    """What the JSON says of so many seeds' campaigns."""
    return {
        "seeds": len(runs),
        "evaluations": evaluations,
        "target": "ratio of calls, with findings to campaign one, at most 0.5",
        "ratio": _ratio(runs, "with", "one"),
        "ratio_to_without": _ratio(runs, "with", "without"),
        "ratio_without": _ratio(runs, "without", "one"),
        "ratio_foreign": _ratio(runs, "foreign", "one"),
        "reached": {name: sum(made[name].reached for made in runs) for name in runs[0]},
        "foreign_brought": sum(made["foreign"].brought for made in runs),
        "foreign_says": [_bare(one) for one in runs[0]["foreign"].refused],
        "runs": [
            {
                name: {**asdict(run), "refused": [_bare(one) for one in run.refused]}
                for name, run in made.items()
            }
            for made in runs
        ],
    }


def _bare(sentence: str) -> str:
    """Without the folder of this run."""
    return " ".join(Path(word).name if "/" in word[:1] else word for word in sentence.split())


def _ratio(runs: Sequence[dict[str, Run]], above: str, below: str) -> dict[str, float]:
    logs = [math.log(made[above].calls / made[below].calls) for made in runs]
    found = interval(logs)
    return {key: round(math.exp(value), 3) for key, value in found.items()}


def main(argv: Sequence[str] | None = None, *, place: Place = nullcontext) -> int:
    """place: entered for each campaign; the tests give one without Ray."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--evaluations", type=int, default=60, help="after the naive seed's")
    parser.add_argument(
        "--every",
        default=f"{AT_THE_END},20",
        help="evaluations between distillations, several with commas; each has runs of its own "
        f"({AT_THE_END}: at the end alone, so that campaign one knows none of its own)",
    )
    parser.add_argument("--latency", type=float, default=0.02, help="mean seconds to a reply")
    parser.add_argument("--pull", type=float, default=0.5, help="how alike the first ideas are")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    given = parser.parse_args(argv)
    found = {
        f"every {every}": measured(given, int(every), place) for every in given.every.split(",")
    }
    text = json.dumps(found, indent=1)
    if given.out is not None:
        given.out.write_text(text + "\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
