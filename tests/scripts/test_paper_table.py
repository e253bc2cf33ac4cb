"""The paper's table: a run's times go to their rows, the rest of the page stays."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.evaluation import Evaluation, Status
from evaluators.tasks.task_file import load_task
from scripts.docs import paper_table

LABELS = [one.label for one in load_task("fp8_gemm").workloads("benchmarks", "hip")]
TIMES = {label: 100.0 + place for place, label in enumerate(LABELS)}
PAGE = paper_table.PAGE.read_text()
MADE = Evaluation(
    kernel_id="k" * 64,
    task_hash="t",
    device_class="AMD Instinct MI300X",
    status=Status.PASSED,
    times_us=TIMES,
    device="AMD Instinct MI300X",
)


def test_each_shape_of_the_task_has_its_row() -> None:
    page = paper_table.filled(PAGE, TIMES)
    assert "| 1024, 1536, 7168 | 8.6 | 33.2 | 97.6 | 100.0 |\n" in page
    assert f" | {paper_table.geometric_mean(TIMES):.1f} |\n" in page
    changed = [a for a, b in zip(PAGE.splitlines(), page.splitlines(), strict=True) if a != b]
    assert len(changed) == len(TIMES) + 1
    assert paper_table.filled(page, TIMES) == page  # a later run replaces what stood there
    with pytest.raises(ValueError, match="0 rows for '1, 2, 3'"):
        paper_table.filled(PAGE, {"M=1 N=2 K=3": 1.0})


@pytest.mark.parametrize(
    ("made", "code", "filled"),
    [
        (MADE, 0, True),
        (replace(MADE, device="NVIDIA H200"), 0, False),
        (replace(MADE, status=Status.WRONG, reason="c is wrong", times_us={}), 1, False),
    ],
)
def test_only_an_mi300_fills_the_page(
    made: Evaluation,
    code: int,
    filled: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = tmp_path / "paper.md"
    page.write_text(PAGE)
    asked: list[Path] = []

    def evaluate(file: Path, *_: object) -> Evaluation:
        asked.append(file)
        return made

    monkeypatch.setattr(paper_table, "evaluate_file", evaluate)
    monkeypatch.setattr(sys, "argv", ["paper_table", str(tmp_path), "--page", str(page)])
    assert paper_table.main() == code
    assert asked == [tmp_path / "best.hip"]
    assert (page.read_text() != PAGE) is filled
    said = capsys.readouterr()
    if code:
        assert "c is wrong" in said.err
    else:
        assert json.loads(said.out)["times_us"] == TIMES
