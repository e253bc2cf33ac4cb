"""The coverage script: its arithmetic, that it goes on where it was, and all of it in small."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluators.cpu.device import device_count
from scripts import coverage
from tests.evaluators.small_task import SPACIOUS, write_task


def final(kernel: str, ci95: tuple[float, float], *, busy: bool) -> dict[str, Any]:
    middle = sum(ci95) / 2
    return {"kernel": kernel, "busy": busy, "speedup": middle, "ci95": ci95, "lasted_s": 20.0}


def test_covered_and_widths_by_arm() -> None:
    state = {
        "finals": {
            "a/0": final("a", (1.8, 2.2), busy=False),
            "a/1": final("a", (2.1, 2.3), busy=True),
            "b/0": final("b", (0.5, 1.5), busy=True),
            "c/0": final("c", (1.0, 1.1), busy=False),
        },
        "later": {"a": {"speedup": 2.0}, "b": {"speedup": 1.0}},
    }
    told = coverage.summary(state)
    assert (told["finals"], told["covered"]) == (3, 2)
    assert (told["covered_alone"], told["covered_beside_busy"]) == ("1 of 1", "1 of 2")
    assert told["width_alone"] == pytest.approx(0.2)
    assert [one["kernel"] for one in told["missed"]] == ["a"]


@pytest.mark.soak
@pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")
def test_the_whole_of_it_in_small_and_in_pieces(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = write_task(tmp_path / "small", seed=SPACIOUS)
    state = tmp_path / "state"
    sizes = ["--kernels", "1", "--times", "2", "--seconds", "0.1", "--later", "0.1"]
    arguments = ["--tasks", str(task), *sizes, "--state", str(state)]
    assert coverage.main([*arguments, "--for", "0"]) == 0
    first = json.loads((state / "coverage.json").read_text())
    assert len(first["finals"]) == 1 and first["later"] == {}
    assert coverage.main(arguments) == 0
    whole = json.loads((state / "coverage.json").read_text())
    assert {**whole["finals"], **first["finals"]} == whole["finals"]
    assert [one["busy"] for one in whole["finals"].values()] == [False, True]
    told = json.loads(capsys.readouterr().out.rpartition("\n{\n")[2].join(["{\n", ""]))
    assert told["finals"] == 2 and told["covered"] in (0, 1, 2)
