"""From MLflow a comparison is the same as from the campaigns' folders."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.compare.campaign import CompareError
from engine.compare.comparison import compare
from engine.compare.folders import read_folders
from engine.compare.pairs import Question
from engine.compare.tracked import read_experiment
from engine.tracking.tracker import Tracker
from tests.engine import campaign_log as log
from tests.engine.compare.logs import campaign
from tests.engine.ports import free_port

pytestmark = pytest.mark.long  # MLflow takes seconds for the tables of a new database

EXPERIMENT = "kernel-scientist"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four campaigns of two configurations, and MLflow that knows them."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in range(2):
        campaign(folder, f"a{seed}", [2.0, 1.5, 3.0 + seed], seed=seed, final=3.1 + seed)
        operators = [{"kind": "random"}]
        campaign(folder, f"b{seed}", [4.0, 5.0 + seed], seed=seed, operators=operators)
    for run in sorted(folder.iterdir()):
        follower = Tracker(uri=uri_of(folder), experiment=EXPERIMENT, run_dir=run)
        follower.record(log.read(run / "store.sqlite"))
        follower.finish()
        assert follower.trouble == ""
    return folder


def uri_of(folder: Path) -> str:
    return f"sqlite:///{folder.parent / 'mlflow.db'}"


def test_it_says_the_same(runs: Path) -> None:
    from_folders = compare(read_folders([runs]), Question(reference="a0"))
    tracked = read_experiment(uri=uri_of(runs), experiment=EXPERIMENT, wanted="")
    from_mlflow = compare(tracked, Question(reference="a0"))
    assert [arm.name for arm in from_mlflow.arms] == [arm.name for arm in from_folders.arms]
    assert from_mlflow.amounts == from_folders.amounts
    for one, other in zip(from_mlflow.pairs, from_folders.pairs, strict=True):
        assert one.cells == other.cells
        assert one.verdict == other.verdict
    for mine in tracked:
        (same,) = [one for one in from_folders.campaigns if one.name == mine.name]
        assert (mine.seed, mine.task_hash, mine.toolchain) == (
            same.seed,
            same.task_hash,
            same.toolchain,
        )
        assert mine.best is not None and same.best is not None
        unknown: dict[str, Any] = {"kernel_id": "", "ci95": None, "ci99": None, "sittings": 0}
        assert replace(mine.best, **unknown) == replace(same.best, **unknown)
        assert mine.best.ci95 == pytest.approx(same.best.ci95)  # MLflow has five digits
        assert mine.source() == same.source()


def test_a_filter_chooses(runs: Path) -> None:
    wanted = "params.`operators.kind` = 'random'"
    found = read_experiment(uri=uri_of(runs), experiment=EXPERIMENT, wanted=wanted)
    assert sorted(one.name for one in found) == ["b0", "b1"]


def test_what_mlflow_can_not_tell_is_a_sentence(runs: Path, tmp_path: Path) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    for uri, experiment, wanted, sentence in (
        (uri_of(runs), EXPERIMENT, "params.seed = '77'", "no campaign was found by params.seed"),
        (uri_of(runs), EXPERIMENT, "so what", "--filter so what: MLflow does not take it"),
        (uri_of(runs), "other", "", "has no experiment 'other'; it has: Default, kernel-scientist"),
        (f"sqlite:///{tmp_path / 'none.db'}", EXPERIMENT, "", "no such database"),
        (dead, EXPERIMENT, "", "does not answer"),
    ):
        with pytest.raises(CompareError) as error:
            read_experiment(uri=uri, experiment=experiment, wanted=wanted)
        assert sentence in str(error.value)
    assert not (tmp_path / "none.db").exists()
