"""docs/own_kernel.md: its program gives what it shows, and its files make a task that is right."""

import re
from pathlib import Path

import numpy as np
import pytest

from engine.cli.main import main
from evaluators.authoring.examining.examine import cases_without_device
from evaluators.authoring.examining.tolerance import look_at_tolerance
from evaluators.device_info import target_of
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task

PAGE = Path(__file__).resolve().parents[3] / "docs" / "own_kernel.md"
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def block(kind: str, word: str) -> str:
    (found,) = (text for of, text in BLOCKS if of == kind and word in text)
    return str(found)


def drafted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    (folder / "product.hip").write_text(block("cpp", "__global__"))
    assert main(["new-task", "product", "--from-kernel", "product.hip"]) == 0
    return folder / "product"


def test_the_draft_is_the_one_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = drafted(tmp_path, monkeypatch)
    _, _, shown = block("", "new-task product").partition("\n")
    assert capsys.readouterr().out == shown
    assert block("", "space: {TILE").strip() in (folder / "seeds" / "naive.hip").read_text()


def test_what_a_person_changes_is_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = (drafted(tmp_path, monkeypatch) / "task.yaml").read_text().splitlines()
    shown = block("yaml", "dims").splitlines()
    added = [line for line in shown if line not in task]
    assert len(added) == 2 and added[0].startswith("  The matrix") and added[1].startswith("flops")


def test_the_files_that_are_shown_are_a_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = drafted(tmp_path, monkeypatch)
    (folder / "task.yaml").write_text(block("yaml", "dims"))
    reference = folder / "reference.py"
    head = reference.read_text().partition("def reference")[0]
    reference.write_text(head + block("python", "def reference"))
    task = load_task(folder)
    tests = task.workloads("tests", "cpu")
    kernel = parse_kernel(task.naive)
    for workload in (*tests, *task.workloads("benchmarks", "hip")):
        assert kernel.plan(task, workload, target_of("hip")).launches
    inputs = task.inputs(tests[1], seed=0)
    product = inputs["A"].astype(np.float64) @ inputs["B"]
    assert np.allclose(task.reference(tests[1], inputs)["C"], product)
    found = [*look_at_tolerance(task, cases_without_device(task, tests), [])]
    assert not [one for one in found if one.severity != "note"]
