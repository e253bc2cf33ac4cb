"""Campaigns compared: grouping, equal amounts, verdicts, and what is said of them."""

import json
import math
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.compare.as_json import comparison_json
from engine.compare.campaign import CompareError
from engine.compare.comparison import Comparison, compare
from engine.compare.finals import told_apart
from engine.compare.folders import read_folders
from engine.compare.pairs import Question
from engine.compare.sentences import headlines
from engine.history.trajectory import Axis
from engine.store.kinds.steering import Injected
from tests.engine import campaign_log as log
from tests.engine.compare.logs import campaign

RANDOM: dict[str, Any] = {"operators": [{"kind": "random"}]}


def compared(folders: Sequence[Path], **question: Any) -> Comparison:
    return compare(read_folders(folders), Question(**question))


def said(comparison: Comparison) -> str:
    return "\n".join(headlines(comparison))


def two_arms(folder: Path, count: int, *, factor: float, spread: float = 0.1) -> Path:
    """Campaigns of two kernels; those of random are so many times as fast."""
    for seed in range(count):
        away = math.exp(spread * (seed - (count - 1) / 2))
        campaign(folder, f"a{seed}", [2.0, 3.0 * away], seed=seed)
        campaign(folder, f"b{seed}", [2.0, 3.0 * factor * away], seed=seed, **RANDOM)
    return folder


def test_a_large_difference_over_five_seeds_is_real(tmp_path: Path) -> None:
    found = compared([two_arms(tmp_path, 5, factor=2.0)])
    assert [arm.name for arm in found.arms] == [
        "operators.kind=catalog",
        "operators.kind=random",
    ]
    assert [len(arm.campaigns) for arm in found.arms] == [5, 5]
    (pair,) = found.pairs
    cell = pair.cell("best", "evaluations")
    assert cell is not None and cell.ratio.ci95 is not None
    assert cell.ratio.value == pytest.approx(2.0)
    assert 1.3 < cell.ratio.ci95[0] < 2.0 < cell.ratio.ci95[1] < 3.0
    assert pair.verdict.outcome == "real" and pair.verdict.p == pytest.approx(2 / 252)
    assert said(found).startswith(
        "B (operators.kind=random) is better than A (operators.kind=catalog): at 3 evaluations "
        "the best is 2.00x as fast (95% interval"
    )
    assert pair.cell("best", "dollars") is None  # none were spent


def test_a_small_difference_is_not_shown_and_how_many_would_do_is_said(tmp_path: Path) -> None:
    found = compared([two_arms(tmp_path, 5, factor=1.15)])
    (pair,) = found.pairs
    assert pair.verdict.outcome == "not shown"
    assert pair.verdict.needed is not None and pair.verdict.needed > 10
    text = said(found)
    assert "no difference is shown" in text and "that they are equal is not shown" in text
    assert f"About {pair.verdict.needed} campaigns of each would do, if" in text


def test_a_hair_of_a_difference_is_not_looked_for(tmp_path: Path) -> None:
    (pair,) = compared([two_arms(tmp_path, 5, factor=1.0001)]).pairs
    assert pair.verdict.needed_for == pytest.approx(1.1)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_seeds_tell_nothing(tmp_path: Path, count: int) -> None:
    found = compared([two_arms(tmp_path, count, factor=5.0, spread=0.01)])
    (pair,) = found.pairs
    assert pair.verdict.outcome == "too few"
    text = said(found)
    assert "too few seeds to tell" in text and "Run 4 or more of each" in text
    if count == 1:
        assert pair.verdict.needed is None and "nothing says yet" in text


def test_which_arm_comes_first_is_a_matter_of_choice(tmp_path: Path) -> None:
    two_arms(tmp_path, 4, factor=2.0)
    found = compared([tmp_path], reference="b2")
    assert found.arms[0].name == "operators.kind=random"
    (pair,) = found.pairs
    cell = pair.cell("best", "evaluations")
    assert cell is not None and cell.ratio.value == pytest.approx(0.5)
    assert said(found).startswith("A (operators.kind=random) is better than B")
    with pytest.raises(CompareError, match="--reference c: no such campaign"):
        compared([tmp_path], reference="c")


def test_three_arms_are_compared_with_the_first_or_all_and_adjusted(tmp_path: Path) -> None:
    two_arms(tmp_path, 5, factor=2.0)
    for seed in range(5):
        campaign(tmp_path, f"c{seed}", [2.0, 8.0 + seed], seed=seed, islands={"patience": 9})
    found = compared([tmp_path])
    assert [(pair.first.letter, pair.second.letter) for pair in found.pairs] == [
        ("A", "B"),
        ("A", "C"),
    ]
    assert [pair.verdict.p for pair in found.pairs] == pytest.approx([4 / 252] * 2)
    every = compared([tmp_path], all_pairs=True)
    assert len(every.pairs) == 3
    assert "operators.kind=catalog, islands" not in found.arms[0].name  # keys are sorted
    assert found.arms[2].name == "islands.patience=9, operators.kind=catalog"


def test_amounts_are_what_all_reached(tmp_path: Path) -> None:
    campaign(tmp_path, "long", [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    campaign(tmp_path, "short", [2.5, 3.5], seed=1, **RANDOM)
    found = compared([tmp_path])
    (amounts,) = found.amounts.values()
    assert amounts == {"evaluations": 3, "device_s": 0.75}
    (pair,) = found.pairs
    cell = pair.cell("best", "evaluations")
    assert cell is not None and cell.ratio.value == pytest.approx(3.5 / 3)
    assert any("short at 3 evaluations, while the longest went on to 9" in n for n in found.notes)


def test_the_area_is_the_mean_logarithm(tmp_path: Path) -> None:
    campaign(tmp_path, "a", [4.0, 4.0])
    campaign(tmp_path, "b", [1.0, 4.0], seed=1, **RANDOM)
    (pair,) = compared([tmp_path], by="area").pairs
    cell = pair.cell("area", "evaluations")
    assert cell is not None
    # Over 3 evaluations: the first has 4x from the second to the third, the other never.
    assert cell.ratio.value == pytest.approx(math.exp(-math.log(4) / 3))


def test_at_an_amount_shorter_campaigns_are_left_out_unless_nothing_was_left(
    tmp_path: Path,
) -> None:
    campaign(tmp_path, "a", [2.0, 3.0, 4.0])
    campaign(tmp_path, "b", [2.0, 3.0, 5.0], seed=1)
    campaign(tmp_path, "short", [2.0], seed=2)
    ended = "the search space is exhausted: 1 of 1 kernels tried"
    campaign(tmp_path, "whole", [6.0], seed=3, ended=ended)
    found = compared([tmp_path], at=4)
    assert sorted(one.name for one in found.campaigns) == ["a", "b", "whole"]
    assert any(note.endswith("4 evaluations: short (2)") for note in found.notes)
    with pytest.raises(CompareError, match="fewer than two campaigns reached 5 evaluations"):
        compared([tmp_path / "a", tmp_path / "b"], at=5)


def test_repetitions_of_one_configuration_stand_for_themselves(tmp_path: Path) -> None:
    campaign(tmp_path, "first", [2.0, 3.0], seed=1, final=3.2)
    campaign(tmp_path, "second", [2.0, 4.0], seed=2, final=4.4)
    found = compared([tmp_path])
    assert found.repetitions and not found.pairs
    assert [arm.name for arm in found.arms] == ["first", "second"]
    assert "repetitions of one configuration" in said(found)
    assert "goes from 3.20x to 4.40x" in said(found)  # as they were measured at the end
    (sentence,) = told_apart(found)
    assert "second's is 1.38x as fast (95% interval 1.32x to 1.43x) as first's" in sentence
    assert "so faster by their final measurements" in sentence and "--remeasure" in sentence


def test_finals_that_overlap_show_nothing(tmp_path: Path) -> None:
    campaign(tmp_path, "first", [3.0], seed=1, final=3.2)
    campaign(tmp_path, "second", [3.0], seed=2, final=3.25)
    (sentence,) = told_apart(compared([tmp_path]))
    assert "not shown to be faster" in sentence
    campaign(tmp_path, "third", [3.0], seed=3)
    (sentence,) = told_apart(compared([tmp_path / "first", tmp_path / "third"]))
    assert "others were not measured at their end" in sentence


def test_device_seconds_of_the_last_measurement_are_not_the_searchs(tmp_path: Path) -> None:
    campaign(tmp_path, "first", [3.0], seed=1, final=3.2)
    campaign(tmp_path, "second", [3.0, 3.5], seed=2)
    (amounts,) = compared([tmp_path], over="device_s").amounts.values()
    assert amounts["device_s"] == 0.5


def test_tasks_are_strata(tmp_path: Path) -> None:
    def of_task(task: str, level: float) -> None:
        folder = tmp_path / task
        for seed in range(4):
            for name, factor, changes in (("a", 1.0, dict[str, Any]()), ("b", 1.5, RANDOM)):
                path = campaign(
                    folder, f"{name}{seed}", [level * factor * (1 + 0.01 * seed)], **changes
                )
                store = path / "store.sqlite"
                _retask(store, task)

    of_task("hard", 2.0)
    of_task("easy", 200.0)
    found = compared([tmp_path / "hard", tmp_path / "easy"])
    (pair,) = found.pairs
    cell = pair.cell("best", "evaluations")
    assert cell is not None and cell.ratio.value == pytest.approx(1.5)
    assert pair.verdict.outcome == "real" and pair.verdict.p == pytest.approx(2 / 70**2)
    assert "hard 1.50x" in said(found) and "easy 1.50x" in said(found)


def _retask(store: Path, task: str) -> None:
    with sqlite3.connect(store) as connection:
        (body,) = connection.execute(
            "SELECT body FROM events WHERE kind = 'campaign_started'"
        ).fetchone()
        values = json.loads(body)
        values["task_hash"] = values["config"]["task"] = task
        connection.execute(
            "UPDATE events SET body = ? WHERE kind = 'campaign_started'", (json.dumps(values),)
        )
    connection.close()


def test_copies_count_once_and_equal_seeds_are_told(tmp_path: Path) -> None:
    campaign(tmp_path, "a", [2.0], seed=1)
    campaign(tmp_path, "b", [3.0], seed=1)
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    found = compared([tmp_path, tmp_path / "a"])
    assert [one.name for one in found.campaigns] == ["a", "b"]
    assert any("have the same seed (1)" in note for note in found.notes)


def test_what_can_not_be_compared_is_said(tmp_path: Path) -> None:
    campaign(tmp_path, "a", [2.0])
    with pytest.raises(CompareError, match="needs two campaigns, and a is one"):
        compared([tmp_path])
    _retask(campaign(tmp_path, "other", [2.0], **RANDOM) / "store.sqlite", "another")
    with pytest.raises(CompareError, match="no task in common"):
        compared([tmp_path])
    over: Axis = "dollars"
    campaign(tmp_path, "b", [2.0], seed=1, **RANDOM)
    with pytest.raises(CompareError, match="--over dollars: nothing to compare at"):
        compared([tmp_path / "a", tmp_path / "b"], over=over)


def test_what_was_killed_is_used_as_far_as_it_came(tmp_path: Path) -> None:
    campaign(tmp_path, "a", [2.0, 3.0], seed=1)
    campaign(tmp_path, "killed", [2.0], seed=2, ended="", **RANDOM)
    found = compared([tmp_path])
    assert any(note == "killed was killed, and is used as far as it came" for note in found.notes)
    (amounts,) = found.amounts.values()
    assert amounts["evaluations"] == 2


def test_who_put_something_into_a_campaign_is_told(tmp_path: Path) -> None:
    alone, steered = (campaign(tmp_path, name, [2.0, 3.0], seed=n) for n, name in enumerate("ab"))
    carried = Injected(number=1, island=0, what="kernel", name="k", text="")
    put_in = replace(carried, entry="1.json")
    for run, event in ((alone, carried), (steered, put_in)):
        log.write(run / "store.sqlite", [event])
    (note,) = [one for one in compared([alone, steered]).notes if "a person" in one]
    assert note.startswith("a person put kernels or ideas into b, so")


def test_of_copies_the_one_that_got_farther_counts_and_that_is_said(tmp_path: Path) -> None:
    campaign(tmp_path, "b", [3.0, 4.0, 5.0], seed=1)
    campaign(tmp_path, "c", [2.0, 2.5, 3.0], seed=2, **RANDOM)
    (tmp_path / "a-backup").mkdir()
    shutil.copy(tmp_path / "b" / "store.sqlite", tmp_path / "a-backup" / "store.sqlite")
    with sqlite3.connect(tmp_path / "a-backup" / "store.sqlite") as store:
        store.execute("DELETE FROM events WHERE seq > 12")
    for order in (["a-backup", "b", "c"], ["b", "c", "a-backup"]):
        found = compared([tmp_path / name for name in order])
        assert sorted(one.name for one in found.campaigns) == ["b", "c"]
        assert [a["evaluations"] for a in found.amounts.values()] == [4]
        assert "left out, as copies of b that got no farther: a-backup" in found.notes


def test_a_campaign_that_was_killed_before_it_measured_leaves_the_others(tmp_path: Path) -> None:
    two_arms(tmp_path, 2, factor=2.0)
    campaign(tmp_path, "nothing", [2.0])
    with sqlite3.connect(tmp_path / "nothing" / "store.sqlite") as store:
        store.execute("DELETE FROM events WHERE seq > 1")
    found = compared([tmp_path])
    assert len(found.campaigns) == 4
    assert "nothing is left out: it has not measured its naive seed yet" in found.notes


def test_a_link_to_a_campaign_has_a_name_of_its_own(tmp_path: Path) -> None:
    campaign(tmp_path / "elsewhere", "foo", [2.0])
    campaign(tmp_path, "b", [3.0], seed=1)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "foo")
    assert [one.name for one in read_folders([tmp_path / "link", tmp_path / "b"])] == ["link", "b"]


def test_one_campaign_of_a_task_says_nothing_of_luck(tmp_path: Path) -> None:
    campaign(tmp_path, "a", [2.0, 3.0], seed=1)
    _retask(campaign(tmp_path, "b", [4.0], seed=2) / "store.sqlite", "another")
    text = said(compared([tmp_path]))
    assert text.count("nothing says how campaigns of this configuration differ") == 2
    assert "repetitions" not in text


def test_two_versions_of_a_task_are_told_apart(tmp_path: Path) -> None:
    two_arms(tmp_path, 3, factor=2.0)
    for seed in range(3):
        for name, more in ((f"x{seed}", {}), (f"y{seed}", RANDOM)):
            run = campaign(tmp_path, name, [2.0, 4.0 + seed], seed=seed + 10, **more)
            _retask(run / "store.sqlite", "another")
    found = compared([tmp_path])
    assert len(set(found.tasks.values())) == 2
    values = comparison_json(found)
    assert len(values["amounts"]) == 2 and len(values["pairs"][0]["by_task"]) == 2


def test_evaluations_are_whole(tmp_path: Path) -> None:
    two_arms(tmp_path, 2, factor=2.0)
    for at in (1.5, 0.25):
        with pytest.raises(CompareError, match=f"--at {at}: evaluations are whole"):
            compared([tmp_path], at=at)


def test_where_all_are_the_same_nothing_is_left_out(tmp_path: Path) -> None:
    text = said(compared([two_arms(tmp_path, 4, factor=2.0)], at=1.0))
    assert "at 1 evaluations the best is the same in all campaigns" in text
    assert "left out" not in text


def test_spreads_that_differ_much_are_told(tmp_path: Path) -> None:
    for seed in range(5):
        campaign(tmp_path, f"a{seed}", [3.0 + 0.01 * seed], seed=seed)
        campaign(tmp_path, f"b{seed}", [2.0 + seed], seed=seed, **RANDOM)
    notes = compared([tmp_path]).notes
    assert any(note.startswith("campaigns of B differ among themselves") for note in notes)
