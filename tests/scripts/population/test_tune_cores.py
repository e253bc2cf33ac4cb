"""Workers of a study on cores of their own."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from optuna.trial import create_trial

from engine.config_errors import ConfigError
from scripts.population import outcome
from scripts.population.cores import sets_of
from scripts.population.plan import Plan
from scripts.population.settings import default_values, distributions
from scripts.population.study import CORES, open_study, run_trials, whole
from scripts.population.trials import WHOLE
from scripts.tune_population import main
from tests.scripts.population.tune_plans import Ran, plan_of, write

HERE = os.sched_getaffinity(0)
AT_ONCE = min(2, len(HERE))
SETS = [{core} for core in sorted(HERE)[:AT_ONCE]]


class OnCores(Ran):
    """Tells of the cores, and whether each set had one campaign at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.cores: list[set[int]] = []

    def __call__(self, arguments: Sequence[str], output: Path) -> int:
        self.cores.append(os.sched_getaffinity(0))
        return super().__call__(arguments, output)


def on_tasks(folder: Path) -> Plan:
    return plan_of(
        folder,
        seen={"tasks": ["sgemm"], "seeds": 2},
        unseen={"tasks": ["sgemm", "softmax"], "seeds": 2},
        campaign={"final": {"seconds": 0}},
        cores=1,
        workers=AT_ONCE,
    )


def test_each_worker_has_cores_of_its_own(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, trials=4, cores=1, workers=AT_ONCE)
    study = run_trials(plan, tmp_path / "out")
    had = [set(one.user_attrs[CORES]) for one in whole(study)]
    assert all(one in SETS for one in had) and had
    assert os.sched_getaffinity(0) == HERE


def test_by_default_a_worker_has_all(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, trials=1)
    assert plan.cores is None and sets_of(plan) == []
    (one,) = whole(run_trials(plan, tmp_path / "out"))
    assert set(one.user_attrs[CORES]) == HERE


def test_finalists_run_side_by_side_on_them(tmp_path: Path) -> None:
    plan, run = on_tasks(tmp_path), OnCores()
    study = open_study(plan, tmp_path / "out")
    for count in (1, 3):
        values = {**default_values(plan), "islands.count": count}
        done = create_trial(
            params=values,
            distributions=distributions(plan),
            value=count,
            user_attrs={WHOLE: True},
        )
        study.add_trial(done)
    found = outcome.finalists(plan, study, tmp_path / "out", run)
    assert {one["name"] for one in found} == {"default", "trial 0", "trial 1"}
    assert run.cores and all(one in SETS for one in run.cores)
    assert len(run.configs) == plan.seen.seeds * len(found)
    for one in found:
        assert set(one["scores"]) == {"sgemm-1000", "sgemm-1001"}
    assert os.sched_getaffinity(0) == HERE


def test_the_comparison_runs_side_by_side_on_them(tmp_path: Path) -> None:
    plan, run = on_tasks(tmp_path), OnCores()
    told = outcome.compare_unseen(plan, {"islands.count": 3}, tmp_path / "out", run)["tasks"]
    assert all(one in SETS for one in run.cores)
    assert len(run.configs) == 8
    assert {name: one["campaigns"] for name, one in told["arms"].items()} == {
        "default": 4,
        "tuned": 4,
    }
    if AT_ONCE == 1:  # then the order is known: the arms take turns at being first
        arms = [one.get("islands", {}).get("count") for one in run.configs]
        assert arms == [3, None, None, 3, None, 3, 3, None]


def test_another_winner_of_a_later_sitting_is_compared_too(tmp_path: Path) -> None:
    plan, run = on_tasks(tmp_path), Ran()
    for count in (3, 2):
        outcome.compare_unseen(plan, {"islands.count": count}, tmp_path / "out", run)
    assert len(run.configs) == 8 + 4  # the default's serve again


@pytest.mark.parametrize(("cores", "workers"), [(len(HERE) + 1, 1), (1, len(HERE) + 1)])
def test_more_cores_than_there_are_end_it_in_a_sentence(
    tmp_path: Path, cores: int, workers: int, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, cores=cores, workers=workers)
    assert main([str(file), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"tune_population: cores: {workers} workers of {cores} cores each need ")
    assert said.count("\n") == 1 and not (tmp_path / "out").exists()
    with pytest.raises(ConfigError, match="name fewer cores or fewer workers"):
        sets_of(plan_of(tmp_path, cores=cores, workers=workers))


def test_cores_may_change_from_sitting_to_sitting(tmp_path: Path) -> None:
    out = tmp_path / "out"
    open_study(plan_of(tmp_path), out)
    open_study(plan_of(tmp_path, cores=1), out)
