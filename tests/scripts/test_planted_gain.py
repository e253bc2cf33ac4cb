"""The script that plants a gain and looks for it: the whole of it in small on cpu."""

import json

import pytest

from scripts import planted_gain


def test_the_whole_of_it_in_small(capsys: pytest.CaptureFixture[str]) -> None:
    assert planted_gain.main(["--trials", "1", "--elements", "2000", "--us", "50"]) == 0
    found = json.loads(capsys.readouterr().out)
    timer = found["timer"]
    assert timer["comparisons"] == timer["passed"] == 2
    assert timer["gain"] > 0 and timer["loss"] > 0
    assert 0.5 < timer["product_of_swapped"]["geometric_mean"] < 2
    assert found["profiler"]["reason"] == "kernels on cpu are not profiled"


def test_a_device_that_is_not_there_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert planted_gain.main(["--backend", "cuda"]) == 1
    assert capsys.readouterr().err.startswith("planted_gain.py: ")
