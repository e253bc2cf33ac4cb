"""`evaluate --emulate` and `doctor --device --emulate` on the command line."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cli.main import main
from evaluators.acceptance.report import accept_device
from evaluators.cpu.device import device_count
from evaluators.device import register
from evaluators.device_info import FURTHER_BACKENDS
from tests.evaluators import untimed
from tests.evaluators.small_task import write_task

on_cpu = pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(FURTHER_BACKENDS, "")
    register(untimed.NAME, untimed.MODULE)
    yield


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    task = write_task(tmp_path / "small", flops="1")
    return ["evaluate", str(task / "seeds" / "naive.hip"), "--task", str(task), "--backend"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["cpu", "--emulate"], "--emulate goes with backend hip only, not with cpu"),
        (["hip", "--emulate", "--compile-only"], "leave out --compile-only and --explain"),
        (["hip", "--order", "3"], "--order goes with --emulate"),
    ],
)
def test_what_cannot_be_emulated_is_one_sentence(
    arguments: list[str], options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, *options]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


@on_cpu
def test_a_verdict_without_times(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, untimed.NAME]) == 0
    told = capsys.readouterr().out
    assert told.startswith("PASSED  in emulation: nothing is timed on an emulated device")
    assert "cost" in told and "are no times" in told
    assert "counted in emulation: " in told
    assert "µs" not in told and "x the naive seed" not in told


@on_cpu
def test_the_same_as_json(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, untimed.NAME, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["status"] == "PASSED"
    assert values["timed"] is False and values["speedup"] is None and not values["times_us"]
    assert set(values["costs"]) <= set(values["shapes_run"])
    assert "no times" in values["meaning"]


@on_cpu
def test_trials_that_take_times_are_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.md"
    only = ["device", "rates", "together", "noise"]
    assert accept_device(untimed.NAME, out, sys.stdout, only=only) == 0
    page = out.read_text()
    assert page.startswith(f"# Device acceptance: {untimed.NAME}, emulated, accepted")
    assert "nothing was timed, and no GPU took part" in page.split("## ")[0]
    skipped = [line for line in page.splitlines() if "SKIPPED | nothing is timed" in line]
    assert len(skipped) == 9
    assert main(["doctor", "--emulate"]) == 2
