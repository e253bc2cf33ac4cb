"""A whole campaign that asks the pair by HTTP, on a device that reads a kernel's worth in it."""

import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from engine.campaign import run_campaign
from engine.dispatch.workbench import Built
from engine.store.events import Event
from engine.store.kinds.calls import CallReserved
from engine.store.run_folder import STORE
from engine.store.store import read_events
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import KernelSource, kernel_id
from scripts.credit.pair import LLM, NAMES, TASK, WRITERS, gain_of, settings, written
from scripts.llm_loop.shared_memory import GainEvaluator, GainWorkbench, Place
from scripts.scripted_model.answers import Messages, answer, listing, role_of
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import MODEL, Rule, Script

EVALUATIONS = 150
"""For as many calls that write as MOST_CALLS, and some more."""


@dataclass(slots=True)
class Writers:
    """What the pair answers. calls: of those that write, how many there were."""

    seed: int
    gains: str
    calls: int = 0

    def rule(self, model: str) -> Rule:
        def said(messages: Messages, number: int) -> str:
            role = role_of(messages)
            if role not in WRITERS:
                return answer(messages, number)
            self.calls += 1
            base = listing("\n".join(one["content"] for one in messages), WRITERS[role])
            return written(base, model, self.calls, seed=self.seed, gains=self.gains)

        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelWorkbench(GainWorkbench):
    """Nothing is compiled or run: kernels are as fast as their level says."""

    gains: dict[int, float] = field(default_factory=dict)

    def compile(self, source: str, info: DeviceInfo) -> Built | Evaluation:
        if gain_of(source) is not None:
            return GainWorkbench.compile(self, source, info)
        return Evaluation(
            kernel_id=kernel_id(source),
            task_hash=self.task_hash,
            device_class=info.device_class,
            status=Status.COMPILE_ERROR,
            reason="line 1: it was written so",
        )

    def open(self, device: int) -> AbstractContextManager[GainEvaluator]:
        return nullcontext(LevelEvaluator(workbench=self, gains=self.gains))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelEvaluator(GainEvaluator):
    def _gain(self, kernel: KernelSource) -> float:
        return gain_of(kernel.code) or 0.0


def asked_of(events: Sequence[Event]) -> list[str]:
    """Of a campaign's calls that write, whom they went to, in their order."""
    return [e.model for e in events if isinstance(e, CallReserved) and e.role in WRITERS]


def campaign(seed: int, *, gains: str, latency_s: float, place: Place) -> list[str]:
    """Whom each call of one campaign went to, as its store says. place: see bench_findings."""
    workbench = LevelWorkbench(
        task_hash=TASK.hash,
        labels=tuple(one.label for one in TASK.workloads("benchmarks", "cpu")),
        binary_bytes=100,
    )
    pair = Writers(seed=seed, gains=gains)
    script = Script(
        models={name: pair.rule(name) for name in NAMES},
        latency_s=latency_s,
        spread=0.5,
        chunks=1,
        seed=seed,
    )
    plain = {"plain": {"model": MODEL, "max_tokens": 1024}}
    models = plain | {name: {"model": name, "max_tokens": 1024} for name in NAMES}
    with tempfile.TemporaryDirectory() as folder, serving(script) as server:
        config = settings(
            seed,
            name="pair",
            runs_dir=folder,
            budgets={"evaluations": EVALUATIONS, "tuning": 0},
            devices={"ids": [0]},
            final={"seconds": 0},
            llm={**LLM, "base_url": server.base_url, "models": models},
        )
        with place():
            run_campaign(config, workbench=workbench)
        return asked_of([one.event for one in read_events(Path(folder) / "pair" / STORE)])
