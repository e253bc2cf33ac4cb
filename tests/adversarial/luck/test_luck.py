"""Luck does not win: copies of one kernel in whole campaigns on devices that are noisy."""

from pathlib import Path
from typing import Any

import pytest

from engine.campaign import run_campaign
from engine.cli.result import result_lines
from engine.config import parse_config
from engine.store.replay import Replay, replay
from engine.store.summary import Summary, summarise
from tests.adversarial.luck.noisy_workbench import (
    KINDS,
    NAIVE_ID,
    NoisyWorkbench,
    kind_of,
    noisy_workbench,
)

pytestmark = pytest.mark.usefixtures("in_this_process")


def campaign(folder: Path, workbench: NoisyWorkbench, **changes: Any) -> tuple[Summary, Replay]:
    values = {
        "task": "sgemm",
        "name": "it",
        "runs_dir": str(folder),
        "tracking": "none",
        "budgets": {"evaluations": 120},
        "islands": {"count": 2},
        "devices": {"ids": [0]},
        "operators": [{"kind": "random"}],
        **changes,
    }
    summary = run_campaign(parse_config(values, where="test"), workbench=workbench)
    return summary, replay(folder / "it" / "store.sqlite")


def said(summary: Summary, whole: Replay) -> str:
    return "\n".join(result_lines(summary, whole, None))


def test_of_a_hundred_equals_none_is_announced(tmp_path: Path) -> None:
    """Each is measured within 2%, and the luckiest of them seems 5% faster."""
    summary, whole = campaign(tmp_path, noisy_workbench())
    assert max(one.speedup or 0.0 for one in whole.scores.evaluations.values()) > 1.03
    assert summary.best is not None and summary.best.id == NAIVE_ID
    assert "nothing faster than the naive seed was found" in said(summary, whole)


def test_a_lucky_first_measurement_wins_nothing(tmp_path: Path) -> None:
    """Every kernel's first measurement says 9% too much, as copies of one kernel once did."""
    summary, whole = campaign(
        tmp_path,
        noisy_workbench(lucky=dict.fromkeys(range(KINDS), 0.09)),
        budgets={"evaluations": 40},
    )
    assert summary.best is not None and summary.best.id == NAIVE_ID
    again = summarise(whole, tmp_path / "it")
    assert again.best == summary.best


def test_a_true_gain_wins_and_a_lucky_loss_does_not(tmp_path: Path) -> None:
    """Kind 3 is 15% faster; kind 5 is 5% slower, and each of it is first measured 25% faster."""
    workbench = noisy_workbench(gains={3: 0.15, 5: -0.05}, lucky={5: 0.25})
    summary, whole = campaign(tmp_path, workbench, budgets={"evaluations": 60})
    assert summary.best is not None and kind_of(summary.best.id) == 3
    assert 1.05 < summary.best.speedup < 1.25
    assert max(whole.scores.evaluations.values(), key=lambda one: one.speedup or 0.0).kernel_id
    assert summary.best.shown_faster


# --- right on every benchmark shape, wrong on others ---------------------------------------------


def test_what_is_wrong_on_held_out_shapes_does_not_win_and_is_told(tmp_path: Path) -> None:
    """Kind 3 is by far the fastest, and wrong where nobody was told to look."""
    workbench = noisy_workbench(gains={3: 0.6, 4: 0.2}, wrong=frozenset({3}))
    summary, whole = campaign(tmp_path, workbench, budgets={"evaluations": 60})
    assert summary.best is not None and kind_of(summary.best.id) == 4
    wrong = [one for one in whole.scores.evaluations.values() if kind_of(one.kernel_id) == 3]
    told = [one for one in wrong if one.status == "WRONG"]
    assert told and all("held-out shape" in one.reason for one in told)
    text = said(summary, whole)
    assert (
        f"{told[0].kernel_id[:12]} is right on every benchmark shape and fails on a held-out shape"
        in text
    )
    stored = (tmp_path / "it" / "store.sqlite").read_bytes()
    assert b"N=515" not in stored and "515" not in text
    assert whole.scores.best is not None and whole.scores.best.kernel_id == summary.best.id
