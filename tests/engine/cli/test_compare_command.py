"""`compare` as a person and as a script meet it."""

import json
from pathlib import Path

import pytest

from engine.campaign import run_campaign
from engine.cli import main as cli
from engine.config import parse_config
from tests.engine.compare.logs import campaign
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench


def run(*words: str) -> int:
    return cli.main(["compare", *words])


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    for seed in range(4):
        campaign(folder, f"a{seed}", [2.0, 3.0 + 0.1 * seed], seed=seed, final=3.0 + 0.1 * seed)
        operators = [{"kind": "random"}]
        campaign(folder, f"b{seed}", [2.0, 6.0 + 0.1 * seed], seed=seed, operators=operators)
    return folder


def test_a_person_reads_the_verdict_first_and_nothing_is_wide(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(runs)) == 0
    text = capsys.readouterr().out
    assert text.startswith("B (operators.kind=random) is better than A")
    assert max(map(len, text.splitlines())) <= 100
    assert "B over A" in text and "real" in text
    assert "* by the search alone" in text
    assert (runs / "compare.svg").read_text().count("<path") > 10
    assert str(runs / "compare.svg") in text.replace("\n", "")


def test_a_script_reads_json(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(runs), "--json", "--plot", str(runs / "a.png")) == 0
    values = json.loads(capsys.readouterr().out)
    assert (runs / "a.png").stat().st_size > 10_000
    (pair,) = values["pairs"]
    assert pair["verdict"]["outcome"] == "real"
    assert pair["ratios"]["best"]["evaluations"]["value"] == pytest.approx(6.15 / 3.15, rel=0.01)
    assert [one["letter"] for one in values["arms"]] == ["A", "B"]
    assert len(values["campaigns"]) == 8
    assert values["question"]["by"] == "best" and values["plot"] == str(runs / "a.png")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name campaigns' folders"),
        (["{runs}/nothing"], "no campaign is here"),
        (["{runs}/a0"], "a comparison needs two campaigns"),
        (["{runs}", "--experiment", "x"], "not both"),
        (["{runs}", "--filter", "x"], "go with --experiment"),
        (["{runs}", "--plot", "{runs}/x.txt"], "ends in one of .svg"),
        (["{runs}", "--plot", "{runs}/none/x.svg"], "can't be written"),
        (["{runs}", "--plot", "x.svg", "--no-plot"], "say one of them"),
        (["{runs}", "--at", "99"], "fewer than two campaigns reached 99"),
        (["{runs}", "--over", "dollars"], "spent no dollars"),
        (["{runs}", "--remeasure", "--no-plot"], "is not as it was in these campaigns"),
    ],
)
def test_what_can_not_be_done_is_one_sentence(
    runs: Path, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*(word.format(runs=runs) for word in words)) == 2
    told = capsys.readouterr()
    assert sentence in told.err and len(told.err.splitlines()) == 1
    assert told.out == ""


def test_without_a_database_there_is_a_sentence_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert run("--experiment", "kernel-scientist") == 2
    assert "name MLflow's address by --uri" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.soak
def test_campaigns_as_they_are_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two configurations that are equal by construction, four seeds each."""
    with local_ray():
        for seed in range(4):
            for patience in (200, 201):
                values = {
                    "task": "sgemm",
                    "name": f"{patience}-{seed}",
                    "seed": seed + patience,
                    "runs_dir": str(tmp_path),
                    "tracking": "none",
                    "budgets": {"evaluations": 12},
                    "islands": {"patience": patience},
                    "final": {"seconds": 0},
                }
                run_campaign(parse_config(values, where="test"), workbench=quick_workbench())
    assert run(str(tmp_path), "--json") == 0
    values = json.loads(capsys.readouterr().out)
    assert [arm["name"] for arm in values["arms"]] == [
        "islands.patience=200",
        "islands.patience=201",
    ]
    (pair,) = values["pairs"]
    assert pair["campaigns"] == [4, 4]
    low, high = pair["ratios"]["best"]["evaluations"]["ci95"]
    assert 0 < low < pair["ratios"]["best"]["evaluations"]["value"] < high
    # At least those that were asked for, and the naive seed may be one of them.
    assert values["amounts"]["sgemm"]["evaluations"] >= 12
    assert {one["state"] for one in values["campaigns"]} == {"ended"}
