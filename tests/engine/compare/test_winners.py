"""Winners measured again together, on cpu: the faster one is shown, twins are not told apart."""

from pathlib import Path

import pytest

from engine.compare.arms import group
from engine.compare.finals import told_together
from engine.compare.folders import read_folders
from engine.compare.winners import TOGETHER, Remeasured, Winner, choose, remeasure
from evaluators.cpu.device import device_count
from evaluators.kernel.source import kernel_id
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.engine.compare.logs import campaign
from tests.evaluators.small_task import SLOW, kernel, write_task

POLICY = TimingPolicy(budget_s=0.3, interval_us=1000.0, link_budget_s=0.2, deadline_slack_s=1.0)

on_cpu = pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")


def winner(name: str, source: str) -> Winner:
    return Winner(names=(name,), kernel_id=kernel_id(source), source=source)


QUICK = winner("quick", kernel(before="// once"))
TWIN = winner("twin", kernel(before="// twice"))
SLOWER = winner("slower", SLOW)
WRONG = winner("wrong", kernel(after="if (i == 7 && i < N) y[i] = 0.0f;"))
BROKEN = winner("broken", kernel(before="no such thing;"))


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return load_task(write_task(tmp_path_factory.mktemp("task") / "small"))


@pytest.fixture(scope="module")
def made(task: Task) -> Remeasured:
    winners = [QUICK, TWIN, SLOWER, WRONG, BROKEN]
    told: list[str] = []
    found = remeasure(winners, task, "cpu", seconds=0.1, tell=told.append, policy=POLICY)
    assert len(told) == found.sittings == 3  # however little time there is
    return found


@pytest.mark.soak
@on_cpu
def test_a_faster_kernel_is_shown_to_be_that(made: Remeasured) -> None:
    (duel,) = [one for one in made.duels if one.of(QUICK.kernel_id, SLOWER.kernel_id)]
    assert duel.shown and duel.ratio[0] > 2
    assert made.over_seed[QUICK.kernel_id][0] > 2 * made.over_seed[SLOWER.kernel_id][0]


@pytest.mark.soak
@on_cpu
def test_twins_are_not_told_apart(made: Remeasured) -> None:
    (duel,) = [one for one in made.duels if one.of(QUICK.kernel_id, TWIN.kernel_id)]
    assert not duel.shown
    assert duel.ratio[1] < 1 < duel.ratio[2]
    first, *_ = told_together(made)
    assert "no kernel is shown to be the fastest" in first


@pytest.mark.soak
@on_cpu
def test_what_fails_now_is_said_and_races_no_more(made: Remeasured) -> None:
    assert made.wrong.keys() == {WRONG.kernel_id, BROKEN.kernel_id}
    assert made.over_seed.keys() == {QUICK.kernel_id, TWIN.kernel_id, SLOWER.kernel_id}
    assert len(made.duels) == 3
    sentences = [*told_together(made)]
    assert any(one.startswith("the kernel of wrong failed now") for one in sentences)
    assert any(one.startswith("the kernel of broken failed now") for one in sentences)


def test_of_each_arm_the_fastest_is_chosen_first(tmp_path: Path) -> None:
    for seed in range(TOGETHER + 1):
        campaign(tmp_path, f"a{seed}", [10.0 + seed], seed=seed)
    campaign(tmp_path, "b", [2.0], operators=[{"kind": "random"}])
    campaign(tmp_path, "none", [], seed=99)
    arms = group(read_folders([tmp_path]))
    chosen, left_out = choose(arms, "t")
    assert [one.names for one in chosen] == [
        (name,) for name in ("a6", "b", "a5", "a4", "a3", "a2")
    ]
    assert left_out == [
        "none found nothing faster than the naive seed",
        "6 winners are measured together; left out: a1, a0",
    ]


def test_a_kernel_that_two_campaigns_found_is_one(tmp_path: Path) -> None:
    campaign(tmp_path / "one", "a", [3.0], seed=1)
    campaign(tmp_path / "two", "a", [3.0], seed=2)
    (both,), _ = choose(group(read_folders([tmp_path / "one", tmp_path / "two"])), "t")
    assert both.names == ("a", "a (2)")
