"""Tests of scripts/tune_population.py: a study on tables and on real campaigns."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.config import parse_config
from engine.config_errors import ConfigError
from engine.config_file import load_config
from scripts import tune_population
from scripts.population import outcome, trials
from scripts.population.plan import Interval, Plan, read_plan
from scripts.population.settings import (
    default_values,
    distributions,
    require_settings,
    settings_of,
)
from scripts.population.study import finished, open_study, run_trials, whole
from scripts.population.trials import OnTask
from scripts.roles.situations import read
from scripts.roles.situations import write as write_situations
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from scripts.tune_population import main, tune
from tests.engine import campaign_log as log
from tests.scripts.test_bench_search import results

ROOT = Path(__file__).parents[2]
SITUATIONS = ROOT / "docs" / "measured" / "situations"
SEARCH = {
    "islands.count": {"low": 1, "high": 3},
    "islands.memory": ["shared", "own"],
    "operators.tuning": {"low": 0, "high": 40},
    "migration.every": {"low": 2, "high": 40, "log": True},
}


def plan_values(folder: Path, **changes: Any) -> dict[str, Any]:
    seen, unseen = folder / "seen.T4.json", folder / "unseen.T4.json"
    for number, path in enumerate((seen, unseen)):
        if not path.exists():
            # The second lacks a part of the first.
            kept = [one for one in results() if one["configuration"]["tile"] > number]
            tree = {"schema_version": "1.0.0", "metadata": {}, "results": kept}
            path.write_text(json.dumps(tree))
    return {
        "name": "small",
        "seen": {"tables": [str(seen)], "seeds": 2},
        "unseen": {"tables": [str(unseen)], "seeds": 3},
        "evaluations": 20,
        "trials": 5,
        "startup": 2,
        "finalists": 2,
        "search": SEARCH,
        **changes,
    }


def plan_of(folder: Path, **changes: Any) -> Plan:
    return Plan.model_validate(plan_values(folder, **changes))


def write(folder: Path, **changes: Any) -> Path:
    file = folder / "tune.yaml"
    file.write_text(yaml.safe_dump(plan_values(folder, **changes)))
    return file


# --- a whole study ------------------------------------------------------------------------------


def test_a_study_ends_with_a_configuration_plots_and_a_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main([str(write(tmp_path)), "--out", str(out)]) == 0
    said = capsys.readouterr()
    result = json.loads(said.out)
    assert result == json.loads((out / "result.json").read_text())
    assert result["trials"] == 5 and result["evaluations_of_a_trial"] == 40
    assert (out / "importances.png").stat().st_size > 5000
    assert (out / "slices.png").stat().st_size > 5000
    scores = [one["score"] for one in result["finalists"]]
    assert scores == sorted(scores, reverse=True)
    assert "default" in [one["name"] for one in result["finalists"]]
    assert result["tuned"] == result["finalists"][0]["values"]
    # The tuned configuration is one that `run` takes.
    ready = load_config(out / "tuned.yaml", ["tracking=none"])
    for key, value in result["tuned"].items():
        section, name = key.split(".")
        place = ready.operators[0] if section == "operators" else getattr(ready, section)
        assert getattr(place, name) == value
    told = result["beside_default"]
    assert [one["table"] for one in told["unseen tables"]["tables"]] == ["unseen"]
    assert [one["table"] for one in told["unseen seeds"]["tables"]] == ["seen"]
    less = told["unseen tables"]["tables"][0]["tuned_less"]["default"]["area"]
    assert less["low"] <= less["mean"] <= less["high"]
    assert "unseen tables, unseen: area " in said.err


def test_what_all_trials_have_is_in_the_configuration_too(tmp_path: Path) -> None:
    common = {"final": {"seconds": 7}, "operators": [{"kind": "catalog"}, {"kind": "random"}]}
    plan = read_plan(write(tmp_path, campaign=common))
    file = outcome.write_tuned(plan, {"islands.count": 3, "operators.tuning": 5}, tmp_path)
    ready = load_config(file, ["tracking=none"])
    assert (ready.final.seconds, ready.islands.count, ready.budgets.evaluations) == (7, 3, 20)
    assert [(mix.kind, mix.tuning) for mix in ready.operators] == [("catalog", 5), ("random", 5)]


def test_the_same_command_goes_on_and_runs_no_trial_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = plan_of(tmp_path, trials=3)
    first = [(one.params, one.value) for one in finished(run_trials(plan, out))]
    more = plan.model_copy(update={"trials": 6})
    study = run_trials(more, out)
    assert [(one.params, one.value) for one in finished(study)][:3] == first
    assert len(finished(study)) == 6
    drawn = [json.dumps(one.params) for one in finished(study)]
    assert len(set(drawn)) == 6  # a later sitting does not draw what an earlier one drew
    assert len(finished(run_trials(more, out))) == 6


def test_the_first_trial_is_the_default(tmp_path: Path) -> None:
    study = run_trials(plan_of(tmp_path, trials=1), tmp_path / "out")
    (first,) = finished(study)
    config = parse_config({"task": "sgemm"}, where="test")
    assert json.dumps(first.params) == json.dumps(default_values(plan_of(tmp_path)))
    assert first.params["islands.count"] == config.islands.count
    assert first.params["operators.tuning"] == config.operators[0].weights["tuning"]
    assert first.params["migration.every"] == config.migration.every


def test_a_trial_that_was_killed_is_made_up_for(tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = plan_of(tmp_path, trials=2)
    study = open_study(plan, out)
    study.ask(distributions(plan))  # the default, which nobody tells of
    done = finished(run_trials(plan, out))
    assert len(done) == 2
    assert default_values(plan).items() <= done[0].params.items()


def test_two_workers_share_a_study(tmp_path: Path) -> None:
    study = run_trials(plan_of(tmp_path, trials=4, workers=2), tmp_path / "out")
    assert 4 <= len(finished(study)) <= 5
    assert len({one.number for one in finished(study)}) == len(finished(study))


def test_another_plan_is_refused_and_more_trials_are_not(tmp_path: Path) -> None:
    out = tmp_path / "out"
    open_study(plan_of(tmp_path), out)
    open_study(plan_of(tmp_path, trials=9, workers=2), out)
    with pytest.raises(ConfigError, match="holds a study of another plan; name another folder"):
        open_study(plan_of(tmp_path, evaluations=30), out)


@pytest.mark.parametrize("pruner", ["wilcoxon", "median", "none"])
def test_what_is_hopeless_is_given_up(
    tmp_path: Path, pruner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores by a rule: with one island they are good, with others bad everywhere."""
    asked: list[int] = []

    class Ruled:
        name = "ruled"

        def __init__(self, place: int) -> None:
            self.place = place

        def score(self, plan: Plan, values: dict[str, Any], parent: str = "") -> float:
            asked.append(self.place)
            return self.place / 100 + (1.0 if values["islands.count"] == 2 else 0.1)

    monkeypatch.setattr(trials, "instances", lambda *_: [Ruled(place) for place in range(12)])
    plan = plan_of(tmp_path, pruner=pruner, trials=10, startup=1, sampler="random")
    study = run_trials(plan, tmp_path / "out")
    good = [one for one in whole(study) if one.params["islands.count"] == 2]
    bad = [one for one in finished(study) if one.params["islands.count"] != 2]
    assert good and bad
    assert (len(asked) < 12 * 10) == (pruner != "none")
    assert whole(study)[0].params["islands.count"] == 2
    given_up = len(finished(study)) - len(whole(study))
    assert given_up == (0 if pruner == "none" else given_up) and (given_up > 0) == (
        pruner != "none"
    )


def test_it_finds_what_is_better(tmp_path: Path) -> None:
    """Of two ways to search the one that is far better on the table is chosen."""
    plan = plan_of(
        tmp_path,
        trials=4,
        finalists=4,
        sampler="random",
        pruner="none",
        search={"operators.kind": ["random", "catalog"], "islands.initial": {"low": 0, "high": 3}},
        evaluations=40,
    )
    found = outcome.finalists(plan, run_trials(plan, tmp_path / "out"), tmp_path / "out")
    kinds = {one["values"]["operators.kind"]: one["score"] for one in reversed(found)}
    assert set(kinds) == {"random", "catalog"}
    assert kinds["catalog"] > kinds["random"]


def test_values_that_do_not_go_together_end_their_trial_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("experiment", "crossover", "mutation", "tuning")
    search = {f"operators.{name}": [0, 1] for name in names}
    plan = plan_of(tmp_path, trials=30, sampler="random", search=search, evaluations=5)
    study = run_trials(plan, tmp_path / "out")
    assert len(finished(study)) == 30
    refused = [one for one in finished(study) if not any(one.params.values())]
    assert refused and not {one.number for one in refused} & {one.number for one in whole(study)}
    assert "must be above 0 in" in capsys.readouterr().err


# --- MLflow -------------------------------------------------------------------------------------


def test_trials_stand_below_the_study_in_mlflow(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_trials(plan_of(tmp_path, trials=2, tracking="sqlite"), out)
    run_trials(plan_of(tmp_path, trials=3, tracking="sqlite"), out)
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{out / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("kernel-scientist/tune/small")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    (parent,) = [one for one in runs if "mlflow.parentRunId" not in one.data.tags]
    below = [one for one in runs if one is not parent]
    assert {one.data.tags["mlflow.parentRunId"] for one in below} == {parent.info.run_id}
    assert sorted(one.info.run_name for one in below) == ["trial 0", "trial 1", "trial 2"]
    for one in below:
        assert 0 < one.data.metrics["score"] <= 1
        assert set(one.data.params) == set(SEARCH)
        assert one.info.status == "FINISHED"


# --- real campaigns -----------------------------------------------------------------------------


def test_real_campaigns_are_run_scored_and_compared(tmp_path: Path) -> None:
    """By a stand-in for the process that would take minutes; the folders are as it leaves them."""
    ran: list[dict[str, Any]] = []

    def run(arguments: Sequence[str], output: Path) -> int:
        config = yaml.safe_load(Path(arguments[1]).read_text())
        ran.append(config)
        folder = Path(config["runs_dir"]) / config["name"]
        stored = parse_config(config, where="test")
        events = [*log.opening(stored), *log.middle(), *log.ending()]
        log.write(folder / "store.sqlite", events)
        return 0

    plan = plan_of(
        tmp_path,
        seen={"tasks": ["sgemm"], "seeds": 1},
        unseen={"tasks": ["sgemm"], "seeds": 2},
        campaign={"final": {"seconds": 0}},
    )
    one = OnTask(task="sgemm", seed=3, folder=tmp_path / "trial-0", run=run)
    score = one.score(plan, {"islands.count": 3})
    assert score > 0
    (config,) = ran
    assert config["islands"] == {"count": 3} and config["seed"] == 3
    assert config["tracking"] == {"uri": "none"} and config["name"] == "trial-0-sgemm-3"
    told = outcome.compare_unseen(plan, {"islands.count": 3}, tmp_path / "out", run)["tasks"]
    assert told["reference"] == "default" and set(told["arms"]) == {"default", "tuned"}
    assert told["arms"]["tuned"]["campaigns"] == 2
    assert {one["seed"] for one in ran[1:]} == {2000, 2001}
    words = {"tuned": {"islands.count": 3}, "beside_default": {"tasks": told}}
    line = tune_population.told(words)[1]
    assert line.startswith("real campaigns on unseen seeds, beside the default: 1.00x (1.00 to")
    assert line.endswith("too few seeds to show it")
    assert sorted(one["islands"]["count"] if "islands" in one else 0 for one in ran[1:]) == [
        0,
        0,
        3,
        3,
    ]


# --- situations ---------------------------------------------------------------------------------


def test_a_role_is_asked_by_the_trials_own_model_and_temperature(tmp_path: Path) -> None:
    files = []
    for task in ("sgemm", "softmax"):
        (recorded,) = {
            id(one.campaign): one.campaign
            for one in read([SITUATIONS / f"{task}_catalogue_cpu.json.gz"])
        }.values()
        kept = tuple(one for one in recorded.situations if one.role == "selector")[:3]
        files.append(tmp_path / f"{task}.json.gz")
        write_situations(files[-1], [replace(recorded, situations=kept)])
    with serving(Script()) as server:
        plan = plan_of(
            tmp_path,
            seen={"situations": [str(files[0])], "seeds": 1},
            unseen={"situations": [str(files[1])], "seeds": 1},
            campaign={
                "operators": [{"kind": "llm"}],
                "llm": {
                    "base_url": server.base_url,
                    "models": {
                        "one": {"model": "scripted", "temperature": 2.0},
                        "two": {"model": "scripted"},
                    },
                },
            },
            search={
                "llm.roles.selector": ["one", "two"],
                "llm.models.two.temperature": {"low": 0.0, "high": 1.5},
            },
            trials=3,
        )
        result = tune(plan, tmp_path / "out")
    asked = [one.body for one in server.log]
    tried = {one["temperature"] for one in asked} - {2.0}
    assert 2.0 in {one["temperature"] for one in asked}
    assert tried and all(0 <= one <= 1.5 for one in tried)
    told = result["beside_default"]["situations"]
    assert list(told) == ["selector"] and list(told["selector"]) == ["tuned", "default"]
    for arm in told["selector"].values():
        assert arm["score"] == pytest.approx(-math.log(arm["figures"]["regret"]["mean"]), abs=1e-3)
    assert all(one["score"] <= 0 for one in result["finalists"])


# --- what can't be used -------------------------------------------------------------------------


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


@pytest.mark.parametrize("text", ["", "[1]", "a: [", "\udcff"])
def test_a_file_that_is_no_plan_is_too(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tune.yaml"
    file.write_bytes(text.encode(errors="surrogateescape"))
    assert main([str(file)]) == 2
    assert main([str(tmp_path / "none.yaml")]) == 2
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


# --- the plan -----------------------------------------------------------------------------------


def test_the_shipped_plan_can_be_used() -> None:
    plan = read_plan(ROOT / "configs" / "tune.yaml")
    require_settings(plan)
    assert set(default_values(plan)) == set(plan.search)
    for table in (*plan.seen.tables, *plan.unseen.tables):
        assert (ROOT / table).is_dir()


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
        "roles": {"writer": "a"},
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
