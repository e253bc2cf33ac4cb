"""Kernels that look for the harness's memory on a GPU: on the HIP double, and on CUDA."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.evaluators.hip import test_hip_double

SCRIPT = "from tests.adversarial.gpu_memory import on_gpu; on_gpu.main()"
BACKENDS = [pytest.param("hip"), pytest.param("cuda", marks=pytest.mark.hardware)]


def asked(question: str, name: str, folder: Path) -> Any:
    said = test_hip_double.python(SCRIPT, question, name, str(folder))
    return json.loads(said.splitlines()[-1])


@pytest.mark.long
@pytest.mark.parametrize("gpu", BACKENDS, indirect=True)
def test_what_is_right_cannot_be_found_or_changed(gpu: str, tmp_path: Path) -> None:
    found = asked("verdicts", gpu, tmp_path)
    assert len(found) == 10
    verdicts = {attack: status for attack, (status, _) in found.items()}
    for kind in ("False", "True"):  # references by reference.py, or by a reference.hip
        assert verdicts.pop(f"honest {kind}") == "PASSED", found
        assert verdicts.pop(f"signs {kind}") == "MemorySpoilt"
    assert set(verdicts.values()) == {"WRONG"}, verdicts


@pytest.mark.parametrize("gpu", BACKENDS, indirect=True)
def test_nothing_lies_about_while_a_kernel_runs(gpu: str, tmp_path: Path) -> None:
    found = asked("left_behind", gpu, tmp_path)
    assert found.pop("launches") >= 4, found
    assert found == {"pointers": 0, "inputs": 0, "results": 0}


@pytest.mark.parametrize("gpu", BACKENDS, indirect=True)
def test_every_evaluation_has_inputs_that_none_has_met(gpu: str, tmp_path: Path) -> None:
    """A pool of two draws; in the first evaluation all of each shape are new, also those on which
    the seed's own rounding is measured."""
    found = asked("renewed", gpu, tmp_path)
    small, large = "N=3000", "N=4001"
    for kind, later in {
        "light": {small: 2, large: 2},
        "heavy": {small: 1, large: 1},
        "reference.py": {small: 1},
    }.items():
        first, *others = found[kind]
        assert first.keys() == {small, large} and min(first.values()) >= 2, kind
        for one in others:
            assert all(one.get(shape, 0) >= count for shape, count in later.items()), (kind, one)


@pytest.mark.long
def test_a_process_that_may_be_spoilt_is_replaced(
    double: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = asked("replaced", "hip", tmp_path)
    for kernel, status, words, anew in [
        ("honest", "PASSED", "", False),
        ("signs", "WRONG", "wrote outside of its buffers, in two processes", True),
        ("trespass", "WRONG", "wrote past the end of y", True),
        ("wrong", "WRONG", "y[", False),
        ("after", "PASSED", "", False),
    ]:
        assert found[kernel][0] == status, f"{kernel}: {found[kernel][1]}"
        assert words in found[kernel][1], found
        assert found[kernel][2] is anew, found
