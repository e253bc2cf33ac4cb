"""Which kernels of a campaign another one begins with."""

from pathlib import Path

from engine.carrying import brought_in, elites
from engine.config import parse_config
from engine.preparation import task_of
from engine.store.events import Drafted, Evaluated, Event
from engine.store.replay import replay
from operators.individual import Candidate
from tests.engine import campaign_log as log
from tests.evaluators.own_tasks import LARGEST

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


def test_all_seeds_of_the_backend_come_in_but_the_baseline(tmp_path: Path) -> None:
    folder = LARGEST.write(tmp_path / "task")
    seeds = folder / "seeds"
    other = LARGEST.seed.replace("> x[", ">= x[")
    seeds.joinpath("later.hip").write_text(other)
    seeds.joinpath("again.hip").write_text(LARGEST.seed.replace("int best", "int  best"))
    seeds.joinpath("mine.hip").write_text(other.replace("/*---", "/*---\nbackends: [cuda]", 1))
    seeds.joinpath("same.hip").write_text(other)
    values = {"task": str(folder), "islands": {"count": 2}, "tracking": "none"}

    def names(backend: str) -> list[tuple[int, int, str]]:
        config = parse_config({**values, "backend": backend}, where="a test")
        return [(one.number, one.island, one.name) for one in brought_in(config)]

    assert names("cpu") == [
        (1, 0, "seed again.hip of the task"),
        (2, 1, "seed later.hip of the task"),
    ]
    assert len(names("cuda")) == 2  # what it says of backends makes it no other kernel
    seeds.joinpath("naive.hip").write_text(
        LARGEST.seed.replace("/*---", "/*---\nbackends: [hip]", 1)
    )
    assert names("cpu") == [(1, 0, "seed later.hip of the task")]
    config = parse_config({**values, "backend": "cpu"}, where="a test")
    assert task_of(config).naive == seeds.joinpath("again.hip").read_text()
