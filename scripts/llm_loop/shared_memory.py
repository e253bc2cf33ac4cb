"""What a memory shared by all islands saves: campaigns of a scripted mind, with and without it.

python -m scripts.llm_loop.shared_memory --seeds 10 --out found.json

Two islands ask one scripted mind (scripts/scripted_model/mind.py): thirty ideas for a matrix
product, each said in three ways that share under half of their words. An idea has a gain of its
own, drawn for the seed, that the kernels hold which it was made into; nothing is compiled or run.
The arms differ in the configuration's key islands.memory alone (an arm named "default" sets no
key). Measured over seeds, with 95% bootstrap intervals over them:

- repeated: share of the first --calls calls of writers that were paid for an idea which had been
  written already (as many calls as there were ideas in the campaign that showed a quarter);
- to_best: evaluations until the idea with the largest gain is first evaluated; where it never
  is, one more than there were;
- to_an_idea: the same for each of the thirty, their mean: what to_best is on average over which
  of them is the best, as nothing knows of it before it is evaluated; it varies less.

Starting and ending Ray takes most of a campaign's time; the test of this script has a stand-in.
"""

import argparse
import json
import math
import random
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from engine.campaign import run_campaign
from engine.config import parse_config
from engine.dispatch.workbench import Blocks
from engine.store.events import Drafted, Evaluated
from engine.store.run_folder import STORE
from engine.store.store import read_events
from evaluators.device import Compiled
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import KernelSource
from evaluators.measuring.intervals import gains
from evaluators.measuring.policy import Anchor
from evaluators.tasks.task_file import load_task
from scripts.bench_engine import InstantEvaluator, InstantWorkbench
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.mind import ScriptedMind, ideas, ideas_in
from scripts.scripted_model.server import MODEL, Script

TASK = "sgemm"
NOISE = 0.004
"""Standard deviation of ln(time) of one block of a race."""

Place = Callable[[], AbstractContextManager[object]]

Gains = Mapping[int, float]
"""ln(speedup) by idea."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GainWorkbench(InstantWorkbench):
    """Kernels take as long as the ideas in them say."""

    gains: Gains

    def open(self, device: int) -> AbstractContextManager[InstantEvaluator]:
        return nullcontext(GainEvaluator(workbench=self, gains=self.gains))


@dataclass(frozen=True, slots=True, kw_only=True)
class GainEvaluator(InstantEvaluator):
    gains: Gains

    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation:
        blocks = self.link(kernel, compiled, anchor) if anchor else {}
        info = self.device.info
        links = (*anchor.links, blocks) if anchor else ()
        gain = math.fsum(fmean(map(fmean, link.values())) for link in links)
        times_us = {
            label: 1000.0 * (1 + place) * math.exp(-self._gain(kernel))
            for place, label in enumerate(self.workbench.labels)
        }
        return Evaluation(
            kernel_id=kernel.id,
            task_hash=self.workbench.task_hash,
            device_class=info.device_class,
            status=Status.PASSED,
            times_us=times_us,
            blocks=blocks,
            gains=gains(blocks, anchor.links if anchor else (), times_us),
            links=len(anchor.links) if anchor else 0,
            anchor_id=anchor.kernel_id if anchor else None,
            speedup=math.exp(gain),
            ci95=(math.exp(gain - 2 * NOISE), math.exp(gain + 2 * NOISE)),
            device=info.name,
        )

    def link(self, kernel: KernelSource, compiled: Compiled, anchor: Anchor) -> Blocks:
        draw = random.Random(f"{kernel.id}/{anchor.kernel_id}")
        ahead = self._gain(kernel) - self._gain(anchor.kernel)
        return {
            label: tuple(draw.gauss(ahead, NOISE) for _ in range(10))
            for label in self.workbench.labels
        }

    def _gain(self, kernel: KernelSource) -> float:
        return math.fsum(self.gains[idea] for idea in ideas_in([kernel.code]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One campaign. writers: all their calls; counted, repeats: the first of them, and those of
    these that were for an idea which had been written already."""

    seed: int
    writers: int
    counted: int
    repeats: int
    evaluations: int
    to_best: int
    to_an_idea: float
    best_speedup: float

    @property
    def repeated(self) -> float:
        return self.repeats / max(1, self.counted)


def gains_of(seed: int) -> dict[int, float]:
    """Most ideas are worth little, some harm, one is worth most."""
    draw = random.Random(f"{seed}/gains")
    gains = {place: draw.expovariate(1 / 0.08) - 0.03 for place in range(len(ideas()))}
    best = draw.randrange(len(ideas()))
    return {**gains, best: max(gains.values()) + 0.2}


def one_run(seed: int, arm: str, given: argparse.Namespace, place: Place) -> Run:
    task = load_task(TASK)
    gains = gains_of(seed)
    workbench = GainWorkbench(
        task_hash=task.hash,
        labels=tuple(w.label for w in task.workloads("benchmarks", "cpu")),
        binary_bytes=100,
        gains=gains,
    )
    mind = ScriptedMind(seed=seed, pull=given.pull)
    script = Script(rule=mind, latency_s=given.latency, spread=0.5, chunks=1, seed=seed)
    with tempfile.TemporaryDirectory() as folder, serving(script) as server:
        values = configuration(seed, arm, given, server.base_url, Path(folder))
        config = parse_config(values, where="scripts/llm_loop/shared_memory.py")
        with place():
            run_campaign(config, workbench=workbench)
        events = [one.event for one in read_events(Path(folder) / "mind" / STORE)]
    sources = {e.kernel_id: e.candidate.source for e in events if isinstance(e, Drafted)}
    order = [e.evaluation for e in events if isinstance(e, Evaluated) and e.number == 0][1:]
    best = max(gains, key=lambda place: gains[place])
    counted = mind.written[: given.calls]
    firsts = [len(order) + 1] * len(gains)
    for number, evaluation in reversed(list(enumerate(order, start=1))):
        for idea in ideas_in([sources[evaluation.kernel_id]]):
            firsts[idea] = number
    return Run(
        seed=seed,
        writers=len(mind.written),
        counted=len(counted),
        repeats=len(counted) - len(set(counted)),
        evaluations=len(order),
        to_best=firsts[best],
        to_an_idea=fmean(firsts),
        best_speedup=max((e.speedup or 0.0 for e in order), default=0.0),
    )


def configuration(
    seed: int, arm: str, given: argparse.Namespace, base_url: str, folder: Path
) -> dict[str, Any]:
    values: dict[str, Any] = {
        "task": TASK,
        "name": "mind",
        "runs_dir": str(folder),
        "seed": seed,
        "budgets": {"evaluations": given.evaluations + 1},
        "islands": {"count": 2, "cycles_in_flight": given.cycles, "patience": 1000},
        "operators": [{"kind": "llm", "experiment": 1, "crossover": 0, "mutation": 0}],
        "devices": {"ids": [0]},
        "final": {"seconds": 0},
        "tracking": "none",
        "llm": {"base_url": base_url, "models": {"mind": {"model": MODEL, "max_tokens": 1024}}},
    }
    if arm != "default":
        values["islands"]["memory"] = arm
    for one in given.set:
        dotted, _, text = one.partition("=")
        place = values
        *path, last = dotted.split(".")
        for key in path:
            place = place.setdefault(key, {})
        place[last] = json.loads(text)
    return values


# --- over seeds -------------------------------------------------------------------------------


def interval(values: Sequence[float], seed: int = 0) -> dict[str, float]:
    """Mean, and its 95% interval by bootstrap."""
    draw = random.Random(seed)
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(4000))
    return {
        "mean": round(fmean(values), 4),
        "low": round(means[100], 4),
        "high": round(means[-101], 4),
    }


def compared(runs: Mapping[str, Sequence[Run]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        arm: {
            "repeated": interval([one.repeated for one in made]),
            "to_best": interval([one.to_best for one in made]),
            "to_an_idea": interval([one.to_an_idea for one in made]),
            "best_speedup": interval([one.best_speedup for one in made]),
            "runs": [asdict(one) for one in made],
        }
        for arm, made in runs.items()
    }
    first, *others = runs
    for other in others:
        pairs = list(zip(runs[first], runs[other], strict=True))
        found[f"{other} less {first}"] = {
            "repeated": interval([b.repeated - a.repeated for a, b in pairs]),
            "to_best": interval([float(b.to_best - a.to_best) for a, b in pairs]),
            "to_an_idea": interval([b.to_an_idea - a.to_an_idea for a, b in pairs]),
        }
    return found


def main(argv: Sequence[str] | None = None, *, place: Place = nullcontext) -> int:
    """place: entered for each campaign; the tests give one without Ray."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--arms", default="own,shared", help="values of islands.memory")
    parser.add_argument("--evaluations", type=int, default=40, help="after the naive seed's")
    parser.add_argument("--calls", type=int, default=28, help="of writers, looked at for repeats")
    parser.add_argument("--cycles", type=int, default=1, help="in flight, of each island")
    parser.add_argument("--latency", type=float, default=0.05, help="mean seconds to a reply")
    parser.add_argument("--pull", type=float, default=0.5, help="how alike the first ideas are")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    given = parser.parse_args(argv)
    runs: dict[str, list[Run]] = {arm: [] for arm in given.arms.split(",")}
    for seed in range(given.seeds):
        for arm, made in runs.items():
            made.append(one_run(seed, arm, given, place))
            print(f"{arm}: {made[-1]}", file=sys.stderr, flush=True)
    found = {"asked": {k: str(v) for k, v in vars(given).items()}, **compared(runs)}
    text = json.dumps(found, indent=1)
    if given.out is not None:
        given.out.write_text(text + "\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
