"""A short campaign's log, event by event, for tests of what reads it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from engine.config import CampaignConfig
from engine.store.events import Added, Drafted, EpochStarted, Evaluated, Event, Fault, to_row
from engine.store.kinds.sessions import CampaignStarted, SessionFinished, SessionStarted
from engine.store.store import Store, Stored, read_events
from evaluators.evaluation import Evaluation, Status
from operators.individual import Candidate, Experiment

LABELS = ("N=1024", "N=4096")
DEVICE = "Test CPU"


def config(folder: Path, **changes: Any) -> CampaignConfig:
    return CampaignConfig(task="sum_reduction", name="short", runs_dir=folder, **changes)


def evaluation(kernel_id: str, speedup: float | None, status: Status | None = None) -> Evaluation:
    """Passed with a speedup; without one, failed with the status."""
    common: dict[str, Any] = {
        "kernel_id": kernel_id,
        "task_hash": "t",
        "device_class": "cpu/test",
        "seconds": {"device": 0.25},
        "device": DEVICE,
    }
    if speedup is None:
        return Evaluation(status=status or Status.WRONG, reason="y[3] is 4, not 5", **common)
    return Evaluation(
        status=Status.PASSED,
        times_us=dict.fromkeys(LABELS, 100.0 / speedup),
        speedup=speedup,
        ci95=(0.9 * speedup, 1.1 * speedup),
        anchor_id="seed",
        **common,
    )


def candidate(kernel_id: str) -> Candidate:
    return Candidate.from_source(f"/*---\nparams: {{}}\n---*/\n// {kernel_id}\n")


def opening(settings: CampaignConfig) -> Iterator[Event]:
    """Up to the naive seed, on every island."""
    yield CampaignStarted(
        config=settings.model_dump(mode="json"),
        task_hash="t",
        baseline_id="seed",
        versions={"kernel-scientist": "0.1.0"},
    )
    yield SessionStarted(
        number=0,
        began_at=1.8e9,
        device=DEVICE,
        device_class="cpu/test",
        devices=1,
        budgets=settings.budgets.model_dump(mode="json"),
        stop=settings.stop.model_dump(mode="json"),
    )
    yield Evaluated(evaluation=evaluation("seed", 1.0), verified=True)
    yield EpochStarted(number=0, anchor_id="seed")
    for island in range(settings.islands.count):
        yield Drafted(
            island=island,
            cycle=0,
            slot=0,
            kernel_id="seed",
            candidate=candidate("seed"),
            origin="seed",
        )
        yield Added(island=island, cycle=0, slot=0, kernel_id="seed", status="NEW")


def step(
    island: int, cycle: int, kernel_id: str, parent: str, speedup: float | None
) -> Iterator[Event]:
    """One candidate's life; one that is faster than its parent is the best so far."""
    experiment = Experiment(
        technique=f"make {kernel_id}",
        description="",
        rubric="",
        performance=(10.0, 50.0),
        innovation=50,
    )
    yield Drafted(
        island=island,
        cycle=cycle,
        slot=0,
        kernel_id=kernel_id,
        candidate=candidate(kernel_id),
        origin="experiment",
        parents=(parent,),
        experiment=experiment,
        report=f"made {kernel_id}",
    )
    verdict = evaluation(kernel_id, speedup)
    yield Evaluated(evaluation=verdict, verified=verdict.passed)
    yield Added(island=island, cycle=cycle, slot=0, kernel_id=kernel_id, status="NEW")


def middle() -> Iterator[Event]:
    """Two improvements, a failure and a fault."""
    yield from step(0, 1, "tile", "seed", 3.0)
    yield from step(1, 1, "broken", "seed", None)
    yield Fault(session=0, number=1, where="device 0", message="a process was lost")
    yield from step(0, 2, "wide", "tile", 6.0)


def ending() -> Iterator[Event]:
    yield SessionFinished(number=0, reason="evaluations spent")


def write(path: Path, events: Sequence[Event]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with Store(path) as store:
        store.append([to_row(event) for event in events])


def read(path: Path) -> list[Stored]:
    """The stored events, a hundredth of a second apart."""
    return [
        Stored(stored.seq, 1.8e9 + 0.01 * stored.seq, stored.event) for stored in read_events(path)
    ]
