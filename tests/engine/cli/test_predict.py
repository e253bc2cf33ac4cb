"""kernel-scientist predict: a family's times without a GPU, and what can't be predicted."""

import json

import pytest

from engine.cli import main as cli
from evaluators.tasks.task_file import SHIPPED

SEEDS = SHIPPED / "fp8_gemm" / "seeds"


def test_the_fastest_are_told_by_shape_with_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["predict", "fp8_gemm", "--top", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["fastest"]) == 2 and len(told["by_shape"]) == 18
    assert "never held against a real MI300" in told["meaning"]
    for row in told["by_shape"]:
        assert row["time_us"] > row["speed_of_light_us"] > 0 and row["why"] and row["params"]
    assert cli.main(["predict", "fp8_gemm", "--top", "2"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("fp8_gemm on AMD Instinct MI300X, ")
    assert sum("of the speed of light" in line for line in lines) == 18
    assert "what that means:" in lines


def test_one_kernel_has_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(SEEDS / "mfma.hip")
    assert cli.main(["predict", "fp8_gemm", "--kernel", file, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert 1 <= told["fastest"][0]["place"] <= told["kernels"]
    assert told["fastest"][0]["params"]["BM"] == 128


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sgemm"], "nothing predicts kernels of the task sgemm"),
        (["fp8_gemm", "--kernel", str(SEEDS / "tiled.hip")], "no kernel of the family fp8_mfma"),
        (["fp8_gemm", "--kernel", "nowhere.hip"], "nowhere.hip can't be read"),
    ],
)
def test_what_can_not_be_predicted_is_said(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["predict", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_count_is_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["predict", "fp8_gemm", "--top", "many"])
    assert "many is no number" in capsys.readouterr().err
