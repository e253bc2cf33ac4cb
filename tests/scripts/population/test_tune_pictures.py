"""The two pictures of a study."""

from pathlib import Path

from matplotlib import pyplot
from optuna import create_study
from optuna.trial import create_trial

from scripts.population.pictures import _placed, draw, importances
from scripts.population.settings import distributions
from scripts.population.trials import WHOLE
from tests.scripts.population.tune_plans import plan_of

LONG = "a model with a very long name indeed"


def test_choices_stand_in_the_plans_order_and_null_is_one(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, search={"islands.restart": [None, 80, 20], "llm.roles.x": ["a", LONG]})
    figure, axis = pyplot.subplots()
    assert _placed(axis, plan, "islands.restart", [20, None, 80]) == [2.0, 0.0, 1.0]
    assert [one.get_text() for one in axis.get_xticklabels()] == ["null", "80", "20"]
    _placed(axis, plan, "llm.roles.x", ["a"])
    told = [one.get_text() for one in axis.get_xticklabels()]
    assert told[0] == "a" and len(told[1]) < 20 and told[1].endswith("\u2026")
    pyplot.close(figure)


def test_a_log_range_has_a_log_axis_from_end_to_end(tmp_path: Path) -> None:
    search = {
        "islands.capacity": {"low": 8, "high": 80, "log": True},
        "islands.count": {"low": 1, "high": 6},
    }
    plan = plan_of(tmp_path, search=search)
    figure, (first, second) = pyplot.subplots(1, 2)
    _placed(first, plan, "islands.capacity", [20, 30])
    _placed(second, plan, "islands.count", [2, 3])
    assert (first.get_xscale(), second.get_xscale()) == ("log", "linear")
    assert [*first.get_xticks()][0::4] == [8, 80]
    assert first.get_xlim()[0] < 8 and first.get_xlim()[1] > 80
    assert second.get_xlim()[0] < 1 and second.get_xlim()[1] > 6
    pyplot.close(figure)


def test_both_are_drawn_where_trials_differ(tmp_path: Path) -> None:
    search = {"islands.restart": [None, 80], "islands.count": {"low": 1, "high": 9}}
    plan, study = plan_of(tmp_path, search=search), create_study(direction="maximize")
    assert draw(plan, study, importances(study), tmp_path) == []
    for count in range(1, 9):
        study.add_trial(
            create_trial(
                params={"islands.restart": None if count % 2 else 80, "islands.count": count},
                distributions=distributions(plan),
                value=count / 10,
                user_attrs={WHOLE: True},
            )
        )
    found = importances(study)
    assert set(found) == set(search) and abs(sum(found.values()) - 1) < 0.01
    assert all(file.stat().st_size > 5000 for file in draw(plan, study, found, tmp_path))
