"""A whole study on tables: its trials, sittings and outcome."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.config import parse_config
from engine.config_errors import ConfigError
from engine.config_file import load_config
from scripts.population import outcome, trials
from scripts.population.plan import Plan, read_plan
from scripts.population.settings import (
    default_values,
    distributions,
)
from scripts.population.study import finished, open_study, run_trials, whole
from scripts.tune_population import main
from tests.scripts.population.tune_plans import plan_of, write


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


def test_where_the_default_wins_it_is_not_compared_with_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    # The first trial is the default.
    assert main([str(write(tmp_path)), "--out", str(out), "--trials", "1"]) == 0
    said = capsys.readouterr()
    result = json.loads(said.out)
    assert [one["name"] for one in result["finalists"]] == ["default"]
    assert result["beside_default"] == {}
    assert result == json.loads((out / "result.json").read_text())
    assert said.err.endswith(
        "the default itself won among the finalists: nothing is left to compare\n"
    )


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
