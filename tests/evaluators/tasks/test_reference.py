"""A reference that can't be used is told in one sentence, before anything is built on it."""

import os
from pathlib import Path

import numpy as np
import pytest

from engine.cli import main as cli
from evaluators.evaluate import evaluate_file
from evaluators.evaluation import Status
from evaluators.tasks.reference import check_reference, smallest
from evaluators.tasks.task import TaskError, load_reference
from evaluators.tasks.task_file import load_task
from tests.evaluators.small_task import REFERENCE, kernel, write_task

WRONG = [
    ("    raise RuntimeError('no such thing')", "raised RuntimeError: no such thing (line 3)"),
    ("    return {'y': w @ x[:0], 't': t}", "raised ValueError: "),
    ("    return {'y': w}", "returned no 't'"),
    ("    return [w, t]", "must return a dict by output name, not list"),
    ("    return {'y': w.sum(), 't': t}", "y has shape (), task.yaml says (1,)"),
    ("    return {'y': w + 1j, 't': t}", "y has dtype complex128, but must hold real numbers"),
    ("    return {'y': w, 't': 0.5 * t}", "t has dtype float64, but must hold integers"),
    ("    return {'y': ['one'], 't': t}", "y has dtype <U3, but must hold real numbers"),
    ("    return {'y': [[1.0], 2.0], 't': t}", "y is no array"),
]


@pytest.mark.parametrize(("body", "told"), WRONG)
def test_what_a_reference_must_not_do(body: str, told: str, tmp_path: Path) -> None:
    task = load_task(write_task(tmp_path / "mine"))
    (task.folder / "reference.py").write_text(f"\ndef reference(w, x, t, N):\n{body}\n")
    with pytest.raises(TaskError) as caught:
        check_reference(load_task(task.folder), "cpu")
    said = str(caught.value)
    assert said.startswith(f"{task.folder / 'reference.py'}: reference() on N=1")
    assert told in said
    assert "\n" not in said


def test_an_edit_of_the_same_size_in_the_same_second_counts(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "mine")
    file = folder / "reference.py"
    x = np.ones(3, np.float32)
    for sign, wanted in (("+", 3.0), ("-", 1.0)):
        file.write_text(REFERENCE.replace("+", sign))
        os.utime(file, (1.0, 1.0))
        own = load_reference(file)
        assert own.reference is not None
        made = own.reference(w=x, x=x, t=x, N=3)
        assert list(made["y"]) == [wanted] * 3
    assert sorted(one.name for one in folder.iterdir()) == ["reference.py", "seeds", "task.yaml"]


def test_the_smallest_shape_of_all_suites_is_tried(tmp_path: Path) -> None:
    tried = smallest(load_task(write_task(tmp_path / "mine")), "cpu")
    assert tried is not None and tried.label == "N=1"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "def reference(w, x, t, M):\n    return {}\n",
            "missing 1 required positional argument: 'M'",
        ),
        ("import numpy\nnumpy.no_such_thing\n", "AttributeError: "),
    ],
    ids=["asks for another dim", "raises at import"],
)
@pytest.mark.parametrize("command", ["run", "evaluate"])
def test_a_command_says_so_before_it_starts_anything(
    command: str, text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_task(tmp_path / "mine")
    (folder / "reference.py").write_text(text)
    config = tmp_path / "mine.yaml"
    config.write_text(f"task: {folder}\nruns_dir: {tmp_path / 'runs'}\ntracking: none\n")
    arguments = {
        "run": ["run", str(config)],
        "evaluate": [
            *("evaluate", str(folder / "seeds" / "naive.hip"), "--task", str(folder)),
            *("--backend", "cpu"),
        ],
    }
    assert cli.main(arguments[command]) == 2
    said = capsys.readouterr()
    [sentence] = said.err.splitlines()
    assert sentence.startswith(f"kernel-scientist: {folder / 'reference.py'}: ")
    assert told in sentence
    assert said.out == ""
    assert not (tmp_path / "runs").exists()


def test_a_wrong_naive_seed_named_by_the_user_is_a_kernel_like_any_other(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "mine")
    naive = folder / "seeds" / "naive.hip"
    naive.write_text(kernel(before="if (N > 50) return;"))
    evaluation = evaluate_file(naive, folder, "cpu")
    assert evaluation.status is Status.WRONG
    assert evaluation.reason.endswith("on N=100")  # a test, and no benchmark shape
    assert "anchor" not in evaluation.reason


def test_another_kernel_is_not_blamed_for_a_wrong_naive_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_task(tmp_path / "mine")
    (folder / "seeds" / "naive.hip").write_text(kernel(before="if (N > 50) return;"))
    other = tmp_path / "other.hip"
    other.write_text(kernel())
    arguments = ["evaluate", str(other), "--task", str(folder), "--backend", "cpu"]
    assert cli.main(arguments) == 2
    [sentence] = capsys.readouterr().err.splitlines()
    assert sentence.startswith(f"kernel-scientist: {folder}: its naive seed, ")
    assert "is WRONG: " in sentence and "on N=100; mend the seed" in sentence
    assert "anchor" not in sentence


def test_the_small_tasks_own_reference_is_right(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "mine")
    assert (folder / "reference.py").read_text() == REFERENCE
    check_reference(load_task(folder), "cpu")
