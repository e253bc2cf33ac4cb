"""What a campaign can search: refused, told, tried to the end, and named as the end's reason."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.campaign import run_campaign
from engine.cli.progress import PlainLines
from engine.cli.result import result_lines
from engine.config import parse_config
from engine.config_errors import ConfigError
from engine.islands.island import EXHAUSTED, STOPPED
from engine.searching import describe_search, require_search, why_ended
from engine.store.events import Added, Drafted, Event
from engine.store.replay import replay
from evaluators.cpu.device import device_count
from evaluators.evaluation import Evaluation
from evaluators.tasks.task import Task, TaskError
from evaluators.tasks.task_file import load_task
from operators.catalog.search_space import Sweep, search_space
from operators.individual import Candidate
from tests.engine.conftest import evaluation_of
from tests.engine.islands.test_island import World
from tests.evaluators.small_task import kernel, write_task
from tests.operators.catalog.test_search_space import FEASIBLE, own_task

FAMILIES = {"techniques": "families"}
"""No edits of a kernel's code, which have no end."""

MODEL = {"base_url": "http://127.0.0.1:1/v1", "models": {"m": {"model": "m", "max_tokens": 99}}}


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return own_task(tmp_path / "own")


def config(task: Path | str, **changes: Any) -> Any:
    values = {"operators": [FAMILIES], "tracking": "none", **changes}
    return parse_config({"task": str(task), **values}, where="test")


def world(task: Task, earlier: Sequence[Event] = (), **changes: Any) -> World:
    sweep = Sweep(search_space(task, "families"), np.random.default_rng(3))
    settings = {"operators": [FAMILIES], **changes}
    return World(budget=100, earlier=earlier, task=task, sweep=sweep, **settings)


MIXES = {
    "catalog": FAMILIES,
    "random": {**FAMILIES, "kind": "random"},
    "best of N": {**FAMILIES, "base": "seed", "crossover": 0, "mutation": 0},
    "crossover alone": {**FAMILIES, "experiment": 0, "mutation": 0},
}


@pytest.mark.parametrize("mix", MIXES.values(), ids=MIXES)
def test_a_small_space_is_tried_to_the_end(task: Task, mix: dict[str, Any]) -> None:
    island = world(task, operators=[mix])
    assert island.run() == EXHAUSTED
    assert len(island.of(Added)) == FEASIBLE  # the seed is one of them
    assert len(set(island.asked)) == len(island.asked) == FEASIBLE - 1


def test_failures_on_the_way_hide_no_kernel_behind_them(task: Task) -> None:
    class Barren(World):
        async def evaluate(
            self, kernel_id: str, candidate: Candidate, held: bool = False
        ) -> Evaluation:
            await super().evaluate(kernel_id, candidate)
            return evaluation_of(kernel_id, {})

    sweep = Sweep(search_space(task, "families"), np.random.default_rng(3))
    island = Barren(
        budget=100, task=task, sweep=sweep, islands={"patience": 2}, operators=[FAMILIES]
    )
    assert island.run() == EXHAUSTED
    assert len(island.asked) == FEASIBLE - 1


@pytest.mark.parametrize("kept", range(2, 40, 3))
def test_a_resumed_sweep_leaves_nothing_out_and_repeats_nothing(task: Task, kept: int) -> None:
    whole = world(task, islands={"cycles_in_flight": 1})
    whole.run()
    cut = whole.log[:kept]
    told = [event.kernel_id for event in cut if isinstance(event, Added)]
    resumed = world(task, earlier=cut, islands={"cycles_in_flight": 1})
    assert resumed.run() == EXHAUSTED
    drafted = {event.kernel_id for event in resumed.log if isinstance(event, Drafted)}
    assert len(drafted) == FEASIBLE
    assert len(told) + len(resumed.asked) == FEASIBLE
    assert not set(told) & set(resumed.asked)


def test_beside_models_an_exhausted_island_stays_for_what_they_send(task: Task) -> None:
    operators = [FAMILIES, {"kind": "llm"}]
    island = world(task, operators=operators, llm=MODEL, islands={"patience": 3})
    assert island.run() == "nothing new"
    assert len(island.asked) == FEASIBLE - 1


def test_a_campaign_that_can_search_nothing_is_refused_before_it_starts(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "own")
    settings = config(folder, runs_dir=str(tmp_path / "runs"))
    with pytest.raises(ConfigError, match="give the seed params and a space"):
        run_campaign(settings)
    assert not (tmp_path / "runs").exists()


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")
def test_a_campaign_ends_with_its_space_and_tells_so_everywhere(task: Task, tmp_path: Path) -> None:
    lines: list[str] = []
    # Without tuning: by the noise of its times it would find variants, a kernel beyond the space.
    operators = [{**FAMILIES, "tuning": 0}]
    islands, devices = {"count": 1}, {"ids": [0]}
    changes = {"operators": operators, "islands": islands, "devices": devices, "name": "it"}
    settings = config(task.folder, runs_dir=str(tmp_path / "runs"), **changes)
    summary = run_campaign(settings, observer=PlainLines(lines.append))
    told = f"the search space is exhausted: {FEASIBLE} of {FEASIBLE} kernels tried"
    assert summary.ended == told
    assert f"searching {FEASIBLE} kernels of the naive seed's own space" in lines[0]
    run_dir = tmp_path / "runs" / "it"
    whole = replay(run_dir / "store.sqlite")
    told_at_the_end = list(result_lines(summary, whole, None))
    assert told in told_at_the_end[0]
    assert not any(line.startswith("go on") for line in told_at_the_end)  # there is nothing
    assert json.loads((run_dir / "summary.json").read_text())["ended"] == told
    whole = replay(run_dir / "store.sqlite")
    finished = whole.sessions[-1].finished
    assert finished is not None and finished.reason == told
    assert whole.scores.by_status.total() == FEASIBLE
    assert next(iter(result_lines(summary, whole, None))).startswith(f"it: {told}; ")


def test_a_seed_that_cannot_be_planned_is_refused_before_it_starts(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "own")
    seed = folder / "seeds" / "naive.hip"
    seed.write_text(kernel().replace("args: [w,", "args: [weights,"))
    with pytest.raises(TaskError, match=r"naive\.hip.* line \d+: .*'weights'"):
        run_campaign(config(folder, runs_dir=str(tmp_path / "runs")))


def test_what_is_searched_is_told_for_catalogue_and_models(task: Task, tmp_path: Path) -> None:
    own = f"{FEASIBLE} kernels of the naive seed's own space"
    assert describe_search(config(task.folder), task) == own
    mixed = config(task.folder, operators=[FAMILIES, {"kind": "llm"}], llm=MODEL)
    assert describe_search(mixed, task) == f"{own} and what models write on 1 of 2 islands"
    bare = load_task(write_task(tmp_path / "bare"))
    assert "nothing by catalogue" in describe_search(mixed, bare)
    edited = config(bare.folder, operators=[{}])
    require_search(edited, bare)
    assert describe_search(edited, bare).startswith("generic edits, ")


def test_the_end_says_which_it_was(task: Task) -> None:
    settings = config(task.folder, islands={"patience": 7})
    exhausted = f"the search space is exhausted: {FEASIBLE} of {FEASIBLE} kernels tried"
    assert why_ended([EXHAUSTED, EXHAUSTED], settings, task, 0) == exhausted
    barren = why_ended([EXHAUSTED, "nothing new"], settings, task, 3)
    assert barren == "nothing new was found in 7 cycles in a row (islands.patience)"
    assert STOPPED not in barren
