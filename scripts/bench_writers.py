"""Writer-only load: how many candidates a second the gateway and the writer sustain.

python -m scripts.bench_writers [--chunks 1000] [--seconds 30] [--engine]

A scripted endpoint in a process of its own answers by rule after --latency seconds, so what is
measured is this software, never a language model. Each of --in-flight loops asks for a kernel,
which then sleeps --evaluation seconds in one of --slots: the best possible rate is
in_flight / (latency + evaluation), or slots / evaluation if that is less.
With --engine the same load runs as a campaign: islands, gateway, store and dispatcher on Ray, for
as many candidates as are possible in --seconds. candidates_per_s counts those that were told to
their island between the first and the last moment at which all --in-flight calls were in flight,
each for a kernel (steady_s apart): the first designs and the end are left out.
calls_per_s_start_to_end is everything, from the first reservation to the last reply.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from engine.campaign import run_campaign
from engine.config import parse_config
from engine.llm.config import Llm
from engine.llm.gateway import Gateway
from engine.store.events import Added
from engine.store.kinds.calls import CallEvent, CallFailed, CallReplied, CallReserved
from engine.store.spending import CallBudget
from engine.store.store import Stored, read_events
from evaluators.device import Compiled
from evaluators.evaluation import Evaluation
from evaluators.kernel.source import KernelSource
from evaluators.measuring.policy import Anchor
from evaluators.tasks.task_file import load_task
from operators.llm.novelty import Novelty
from operators.llm.writer import LlmWriter
from operators.operator import Declined
from scripts.bench_engine import InstantEvaluator, InstantWorkbench
from scripts.scripted_model.individuals import EXPERIMENT, SEED, TILE, context

ROOT = Path(__file__).parents[1]


class CountingJournal:
    """Keeps nothing: the store's own cost is measured by scripts/bench_engine.py."""

    def __init__(self) -> None:
        self.events = 0

    def post(self, event: CallEvent) -> None:
        self.events += 1

    async def commit(self, event: CallEvent) -> None:
        self.events += 1


@contextmanager
def endpoint(latency_s: float, chunks: int) -> Iterator[str]:
    """The base URL of a scripted endpoint in a process of its own."""
    command = [sys.executable, "-m", "scripts.scripted_model.endpoint"]
    command += ["--latency", str(latency_s), "--chunks", str(chunks), "--unique"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()


async def measure(given: argparse.Namespace, base_url: str) -> dict[str, float]:
    model = {"model": "scripted", "stream": given.chunks > 0}
    section = Llm(
        base_url=base_url, models={"main": model}, concurrency=given.in_flight, keep_prompts=True
    )
    gateway = Gateway(section, CallBudget(), CountingJournal(), {})
    writer = LlmWriter(gateway, Novelty(0.995))
    slots = asyncio.Semaphore(given.slots)
    candidates = declined = started = steady = 0
    warm_s = 3 * given.latency  # the loops start as one, and take some rounds to spread
    began = time.monotonic()

    async def loop() -> None:
        nonlocal candidates, declined, started, steady
        while time.monotonic() - began < given.seconds:
            started += 1
            told = context(SEED, TILE, key=f"i0/c{started}/s0")
            try:
                await writer.write(TILE, SEED, EXPERIMENT, told)
            except Declined:
                declined += 1
                continue
            async with slots:
                await asyncio.sleep(given.evaluation)
            candidates += 1
            steady += warm_s <= time.monotonic() - began < given.seconds

    await asyncio.gather(*(loop() for _ in range(given.in_flight)))
    wall_s = time.monotonic() - began
    calls = gateway.spending().calls
    await gateway.close()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "candidates": candidates,
        "calls": calls,
        "declined": declined,
        "wall_s": round(wall_s, 2),
        "candidates_per_s": round(steady / (given.seconds - warm_s), 2),
        "calls_per_s_start_to_end": round(calls / wall_s, 2),
        "possible_per_s": _possible(given),
        "cpu_ms_per_call": round(1000 * (usage.ru_utime + usage.ru_stime) / max(1, calls), 1),
        "peak_rss_mib": round(usage.ru_maxrss / 1024),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepingEvaluator(InstantEvaluator):
    """A device that is asleep for each measurement."""

    evaluation_s: float

    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation:
        time.sleep(self.evaluation_s)
        return InstantEvaluator.measure(self, kernel, compiled, anchor, best)


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepingWorkbench(InstantWorkbench):
    evaluation_s: float

    def open(self, device: int) -> AbstractContextManager[SleepingEvaluator]:
        return nullcontext(SleepingEvaluator(workbench=self, evaluation_s=self.evaluation_s))


def measure_engine(given: argparse.Namespace, base_url: str) -> dict[str, float]:
    """Crossover asks once for each candidate. One device sleeps as many times shorter as there
    are slots: the same evaluations a second."""
    task = load_task("sgemm")
    workbench = SleepingWorkbench(
        task_hash=task.hash,
        labels=tuple(w.label for w in task.workloads("benchmarks", "cpu")),
        binary_bytes=1000,
        evaluation_s=given.evaluation / given.slots,
    )
    model = {"model": "scripted", "stream": given.chunks > 0}
    with tempfile.TemporaryDirectory() as folder:
        config = parse_config(
            {
                "task": "sgemm",
                "name": "bench",
                "runs_dir": folder,
                "tracking": "none",
                "budgets": {"evaluations": round(_possible(given) * given.seconds)},
                "islands": {
                    "count": 2,
                    "cycles_in_flight": given.in_flight // 2,
                    "patience": 100_000,
                },
                "devices": {"ids": [0]},
                "operators": [
                    {
                        "kind": "llm",
                        "experiment": 0.01,  # until there are two parents
                        "crossover": 1,
                        "mutation": 0,
                        "repairs": 0,
                    }
                ],
                "llm": {
                    "base_url": base_url,
                    "models": {"main": model},
                    "concurrency": given.in_flight,
                    "novelty": None,
                },
            },
            where="scripts/bench_writers.py",
        )
        summary = run_campaign(config, workbench=workbench)
        stored = list(read_events(Path(folder) / "bench" / "store.sqlite"))
    reserved = [one.at for one in stored if isinstance(one.event, CallReserved)]
    replies = [one.at for one in stored if isinstance(one.event, CallReplied)]
    told = [one.at for one in stored if isinstance(one.event, Added)]
    first, last = full_moments(stored, given.in_flight)
    if first == last:
        raise SystemExit(
            f"{given.in_flight} calls were in flight only once; ask for more --seconds"
        )
    return {
        "candidates": len(told),
        "calls": summary.calls.calls if summary.calls else 0,
        "calls_per_s_start_to_end": round(len(replies) / (replies[-1] - reserved[0]), 2),
        "steady_s": round(last - first, 1),
        "candidates_per_s": round(sum(first <= at < last for at in told) / (last - first), 2),
        "calls_per_s": round(sum(first <= at < last for at in replies) / (last - first), 2),
        "possible_per_s": _possible(given),
    }


def full_moments(stored: Iterable[Stored], in_flight: int) -> tuple[float, float]:
    """The first and the last moment at which so many calls for a kernel were in flight.

    In seconds since 1970; both 0 when there was none.
    """
    flying: set[str] = set()
    full: list[float] = []
    for one in stored:
        match one.event:
            case CallReserved() as reserved if reserved.role in ("writer", "crossover"):
                flying.add(reserved.key)
            case CallReplied() | CallFailed() as settled:
                flying.discard(settled.key)
        if len(flying) == in_flight:
            full.append(one.at)
    return (full[0], full[-1]) if full else (0.0, 0.0)


def _possible(given: argparse.Namespace) -> float:
    by_models: float = given.in_flight / (given.latency + given.evaluation)
    by_slots: float = given.slots / given.evaluation
    return round(min(by_models, by_slots), 2)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--latency", type=float, default=2.0, help="seconds to a reply")
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--evaluation", type=float, default=0.05, help="seconds asleep")
    parser.add_argument("--slots", type=int, default=4, help="evaluations at a time")
    parser.add_argument("--chunks", type=int, default=0, help="of a streamed reply; 0: unstreamed")
    parser.add_argument("--seconds", type=float, default=30.0, help="asking goes on for so long")
    parser.add_argument("--engine", action="store_true", help="as a whole campaign, on Ray")
    given = parser.parse_args()
    with endpoint(given.latency, given.chunks) as base_url:
        figures = (
            measure_engine(given, base_url)
            if given.engine
            else asyncio.run(measure(given, base_url))
        )
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
