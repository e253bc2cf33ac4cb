"""Plans, and those that can't be used."""

import importlib.util
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.population.plan import Interval, read_plan
from scripts.population.settings import (
    default_values,
    require_settings,
    settings_of,
)
from scripts.search.reading import problem_of
from scripts.tune_population import main
from tests.scripts.population.tune_plans import ROOT, plan_of, write


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"search": {}}, "search: "),
        ({"search": {"islands.cuont": [1, 2]}}, "search.islands.cuont: 1 can't be used"),
        ({"search": {"islands.count": [0, 2]}}, "search.islands.count: 0 can't be used"),
        ({"search": {"islands.count": {"low": 3, "high": 3}}}, "3 is not below 3"),
        ({"search": {"islands.count": {"low": 0, "high": 3, "log": True}}}, "log needs a low"),
        ({"search": {"islands.count": [1]}}, "search.islands.count"),
        ({"trails": 3}, "trails is not a known key (did you mean trials?)"),
        ({"unseen": {"tables": ["SEEN"]}}, "trials run on"),
        ({"unseen": {"tasks": ["sgemm"]}}, "must name the same: tables, tasks or situations"),
        ({"seen": {}}, "name tables, tasks or situations"),
        ({"seen": {"tables": ["nowhere.json"]}}, "nowhere.json"),
        ({"campaign": {"islands": {"count": "many"}}}, "islands.count"),
        ({"sampler": "best"}, "sampler"),
        ({"sampler": "cmaes"}, "sampler cmaes needs cmaes: pip install cmaes, or choose tpe"),
        ({"sampler": "gp"}, "sampler gp needs torch: pip install torch, or choose tpe"),
        ({"search": {"islands.count": {"low": 5, "high": 3}}}, "5 is not below 3"),
        ({"search": {"islands.count": {"low": 1, "high": math.inf}}}, "search.islands.count"),
        ({"search": {"islands.count": {"low": math.nan, "high": 3}}}, "search.islands.count"),
        ({"search": {"islands.count": {"low": 1, "high": 3, "step": 9}}}, "step 9 is wider"),
        ({"search": {"operators.tuning": [1.0, math.nan]}}, "tuning.1: no campaign can try it"),
        ({"search": {"operators.tuning": [1.0, math.inf]}}, "write a finite number, not inf"),
        (
            {"search": {"operators.tuning": [1.0, [2.0]]}},
            "operators.tuning.1: write text, a number",
        ),
        ({"search": {"islands.count": [1, 2, 1]}}, "1 stands twice among the choices"),
        ({"search": {"operators.tuning": [1, 1.0]}}, "1.0 stands twice among the choices"),
        ({"search": {"islands": [1, 2]}}, "search.islands: 1 can't be used"),
        ({"search": {"operators": [1, 2]}}, "search.operators: 1 can't be used"),
        ({"search": {"": [1, 2]}}, "search."),
        ({"search": {"islands.": [1, 2]}}, "search.islands.: 1 can't be used"),
        ({"search": {"islands.count.more": [1, 2]}}, "search.islands.count.more"),
        ({"campaign": {"islands": {"count": 2}}}, "campaign sets islands.count, which search"),
        ({"campaign": {"operators": [{"tuning": 2}]}}, "campaign sets operators.tuning, which"),
        ({"campaign": {"islands": None}}, "islands"),
        ({"campaign": {"operators": None}}, "operators"),
        ({"campaign": {"operators": [1]}}, "operators"),
        ({"campaign": {"budgets": [1]}}, "budgets"),
        ({"campaign": {"profiles": "off"}, "search": {"profiles.most": [1, 2]}}, "profiles"),
        ({"campaign": [1]}, "campaign"),
        ({"tracking": "nowhere"}, "tracking: nowhere"),
        ({"tracking": "odd://there"}, "tracking: odd://there can't be used"),
        ({"tracking": "http://127.0.0.1:9"}, "tracking: http://127.0.0.1:9 can't be used"),
        (
            {"tracking": "sqlite:////proc/none/mlflow.db"},
            "tracking: sqlite:////proc/none/mlflow.db",
        ),
        ({"tracking": ""}, "tracking"),
        ({"tracking": "mysql+nodriver://127.0.0.1:9/x"}, "can't be used"),
    ],
)
def test_a_plan_that_cannot_be_used_is_told_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], said: str
) -> None:
    text = write(tmp_path, **changes).read_text().replace("SEEN", str(tmp_path / "seen.T4.json"))
    (tmp_path / "tune.yaml").write_text(text)
    assert main([str(tmp_path / "tune.yaml"), "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "Traceback" not in told.err
    assert told.err.startswith("tune_population: ") and told.err.count("\n") == 1
    assert said in told.err


@pytest.mark.parametrize("option", ["--trials", "--workers"])
@pytest.mark.parametrize("given", ["0", "-1", "abc", "1.5", ""])
def test_counts_are_whole_numbers(
    tmp_path: Path, option: str, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([str(write(tmp_path)), f"{option}={given}"])
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.endswith(f"argument {option}: {given!r} is not a whole number from 1")


@pytest.mark.parametrize(
    ("module", "named"), [("matplotlib", "matplotlib"), ("sklearn", "scikit-learn")]
)
def test_what_draws_is_asked_for_before_the_first_trial(
    tmp_path: Path,
    module: str,
    named: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        "scripts.population.sampling.find_spec",
        lambda name: None if name == module else importlib.util.find_spec(name),
    )
    assert main([str(write(tmp_path)), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said == (f"tune_population: the importances of keys need {named}: pip install {named}\n")


@pytest.mark.parametrize("text", ["", "[1]", "a: [", "\udcff", "name: a\nname: b", "1"])
def test_a_file_that_is_no_plan_is_too(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tune.yaml"
    file.write_bytes(text.encode(errors="surrogateescape"))
    assert main([str(file)]) == 2
    assert main([str(tmp_path / "none.yaml")]) == 2
    assert main([str(tmp_path)]) == 2
    for line in capsys.readouterr().err.splitlines():
        assert line.startswith("tune_population: ")


def test_without_optuna_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "optuna.py").write_text("raise ModuleNotFoundError('gone', name='optuna')\n")
    done = subprocess.run(
        [sys.executable, "-m", "scripts.tune_population", str(write(tmp_path))],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "tune_population: Optuna is missing: pip install optuna\n"


def test_the_shipped_plan_can_be_used() -> None:
    plan = read_plan(ROOT / "configs" / "tune.yaml")
    require_settings(plan)
    assert set(default_values(plan)) == set(plan.search)
    for table in (*plan.seen.tables, *plan.unseen.tables):
        assert (ROOT / table).is_dir()
        assert max(problem_of(ROOT / table).best.values()) > 0


def test_a_table_on_which_nothing_is_to_be_found_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = ROOT / "docs" / "measured" / "tables" / "softmax_cpu"
    assert main([str(write(tmp_path, unseen={"tables": [str(table)]}))]) == 2
    assert "nothing in it is faster than the naive seed" in capsys.readouterr().err


def test_a_key_of_operators_is_of_all_islands(tmp_path: Path) -> None:
    mixes = [{"kind": "catalog"}, {"kind": "random"}]
    plan = plan_of(tmp_path, campaign={"operators": mixes})
    settings = settings_of(plan, {"operators.tuning": 7, "islands.count": 3})
    assert [mix["tuning"] for mix in settings["operators"]] == [7, 7]
    assert plan.campaign["operators"] == mixes  # which it leaves alone
    assert settings["islands"] == {"count": 3}


def test_a_model_and_its_temperature_are_keys_like_others(tmp_path: Path) -> None:
    llm = {
        "base_url": "http://127.0.0.1:9/v1",
        "models": {"a": {"model": "one"}, "b": {"model": "two"}},
    }
    search = {
        "llm.roles.writer": ["a", "b"],
        "llm.models.a.temperature": {"low": 0.0, "high": 1.5},
    }
    plan = plan_of(
        tmp_path,
        campaign={"operators": [{"kind": "llm"}], "llm": llm},
        search=search,
        seen={"tasks": ["sgemm"]},
        unseen={"tasks": ["softmax"]},
    )
    require_settings(plan)
    found = settings_of(plan, {"llm.roles.writer": "b", "llm.models.a.temperature": 0.3})["llm"]
    assert found["roles"]["writer"] == "b" and found["models"]["a"]["temperature"] == 0.3


@pytest.mark.parametrize(
    ("interval", "inside", "outside"),
    [
        ({"low": 1, "high": 6}, [1, 6, 3], [0, 7, 2.5, None, True, "2"]),
        ({"low": 0.0, "high": 1.0, "step": 0.25}, [0.0, 0.75], [0.3, 1.25]),
        ({"low": 0.5, "high": 2.5}, [0.5, 1, 1.7], [0.4, 3]),
    ],
)
def test_what_an_interval_holds(
    interval: dict[str, float], inside: list[Any], outside: list[Any]
) -> None:
    one = Interval.model_validate(interval)
    assert all(map(one.holds, inside)) and not any(map(one.holds, outside))
