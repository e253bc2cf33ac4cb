"""A study in MLflow."""

from pathlib import Path

from scripts.population.study import run_trials
from tests.scripts.population.tune_plans import SEARCH, plan_of


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
