"""The A/A script: its arithmetic, and the whole of it in small on cpu."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from evaluators.measuring.policy import TimingPolicy
from scripts import aa_test


def blocks(mean: float, sd: float) -> dict[str, list[float]]:
    return {"N=1": np.random.default_rng(4).normal(mean, sd, 300).tolist()}


def test_noise_alone_seldom_wins() -> None:
    noise = blocks(0.0, 0.003)
    noise["N=1"] = [value - float(np.mean(noise["N=1"])) for value in noise["N=1"]]
    found = aa_test.resampled(noise, TimingPolicy(min_blocks=5, width=0.005), 1000)
    assert found["comparisons"] == 1000
    assert found["false_wins"] <= 15
    assert found["false_losses"] <= 15


def test_a_bias_is_seen() -> None:
    found = aa_test.resampled(blocks(0.03, 0.003), TimingPolicy(min_blocks=5, width=0.005), 50)
    assert found["false_wins"] >= 45
    assert found["false_losses"] == 0


@pytest.mark.soak
def test_the_whole_of_it_in_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "aa.json"
    counts = ["--recorded", "6", "--resampled", "20", "--live", "2", "--trials", "2"]
    aa_test.main(
        ["--backend", "cpu", "--times-us", "200", *counts, "--seconds", "8", "--out", str(out)]
    )
    found = json.loads(out.read_text())
    assert {fault["verdict"] for fault in found["faults"]} == {"CRASHED", "TIMEOUT"}
    assert {fault["next"] for fault in found["faults"]} == {"PASSED"}
    (kernel,) = found["kernels"]
    assert len(kernel["recorded"]["values"]) == kernel["recorded"]["blocks"] == 6
    assert math.isfinite(kernel["true_gain"]["gain"])
    assert found["command"].startswith("python -m scripts.aa_test --backend cpu")
    assert "200" in found["command"]
    assert str(out) in capsys.readouterr().out
