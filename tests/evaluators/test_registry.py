"""The registry of backends: those of the package, and those that others add by a module's name."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.device import backend, register
from evaluators.device_info import BACKENDS, FURTHER_BACKENDS, BackendMissing, known_backends
from evaluators.evaluate import evaluate_file
from evaluators.tasks.task_file import load_task
from tests.evaluators import again
from tests.evaluators.small_task import write_task


@pytest.fixture(autouse=True)
def _left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(FURTHER_BACKENDS, "")
    yield


def test_a_backend_of_another_name_evaluates_a_kernel_file(tmp_path: Path) -> None:
    register(again.NAME, again.MODULE)
    task = load_task(write_task(tmp_path / "small", flops="1"))  # no speed of light to meet
    found = evaluate_file(task.folder / "seeds" / "naive.hip", task, again.NAME, seconds=0.1)
    assert found.passed, found.reason
    assert found.device_class.startswith("again/")


def test_processes_that_are_started_know_it() -> None:
    register(again.NAME, again.MODULE)
    said = subprocess.run(
        [sys.executable, "-c", "from evaluators.device import backend; print(backend('again'))"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    ).stdout
    assert again.MODULE in said


def test_names_are_those_of_the_package_and_the_registered_ones() -> None:
    assert known_backends() == BACKENDS
    register("again", "a.module")
    register("other", "b.module")
    assert known_backends() == (*BACKENDS, "again", "other")


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(BackendMissing, match="no backend 'vulkan': choose one of cpu, cuda, hip"):
        backend("vulkan")


def test_a_module_that_is_not_there_is_told() -> None:
    register("again", "nowhere.at_all")
    with pytest.raises(BackendMissing, match=r"nowhere\.at_all, which is not found: mend KERNEL_"):
        backend("again")
