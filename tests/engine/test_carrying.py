"""Which kernels of a campaign another one begins with."""

from pathlib import Path

from engine.carrying import elites
from engine.store.events import Drafted, Evaluated, Event
from engine.store.replay import replay
from operators.individual import Candidate
from tests.engine import campaign_log as log

OF_THE_SEED = ("drafted", "added")
"""Its text in that log is no kernel file."""


def kernel(slot: int, name: str, code: str, speedup: float, param: int = 0) -> list[Event]:
    front = (
        "launches:\n  - {kernel: f, grid: [1], block: [1], args: [x]}\n"
        f"params: {{A: {param}}}\nspace: {{A: [0, 1, 2]}}\n"
    )
    source = f"/*---\n{front}---*/\n__global__ void f(float* x) {{ x[0] = {code}; }}\n"
    drafted = Drafted(
        island=0,
        cycle=1,
        slot=slot,
        kernel_id=name,
        candidate=Candidate.from_source(source),
        origin="random",
    )
    verdict = log.evaluation(name, speedup)
    return [drafted, Evaluated(evaluation=verdict, verified=verdict.passed)]


def test_the_best_of_each_structure_comes_first_and_what_is_slow_last(tmp_path: Path) -> None:
    store = tmp_path / "short" / "store.sqlite"
    lives = [
        *kernel(0, "tile", "1", 5.0),
        *kernel(1, "slow", "2", 1.2),
        *kernel(2, "wide", "3", 6.0),
        *kernel(3, "wide, tuned", "3", 8.0, param=1),
        *kernel(4, "wide, tuned alike", "3", 7.99, param=2),
    ]
    opening = [one for one in log.opening(log.config(tmp_path)) if one.kind not in OF_THE_SEED]
    log.write(store, [*opening, *lives])
    whole = replay(store)
    order = ["wide, tuned", "tile", "wide", "slow"]
    assert [one.id for one in elites(whole, 8)] == order
    assert [one.id for one in elites(whole, 2)] == order[:2]
