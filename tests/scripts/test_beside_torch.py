"""A kernel beside PyTorch's operation: by turns, with an interval, and refused with a sentence."""

import math
import shutil
import sys
from pathlib import Path

import pytest

from evaluators.evaluation import Rejected
from evaluators.tasks.task_file import load_task
from scripts.beside_torch.__main__ import OPERATIONS, Sides, main, paired


class Clock:
    """Two sides whose times drift together; who was called, in order."""

    def __init__(self, kernel_us: float, library_us: float) -> None:
        self.called: list[str] = []
        self._us = {"kernel": kernel_us, "library": library_us}

    def timed(self, name: str) -> float:
        self.called.append(name)
        return self._us[name] * (1 + 0.001 * len(self.called))

    def sides(self, difference: float = 0.0) -> Sides:
        return Sides(
            kernel=lambda: self.timed("kernel"),
            library=lambda: self.timed("library"),
            difference=difference,
        )


def test_a_ratio_comes_with_its_interval_and_neither_side_is_always_first() -> None:
    clock = Clock(kernel_us=10.0, library_us=15.0)
    told, ratios = paired(clock.sides(), blocks=20)
    assert len(ratios) == 20 and len(clock.called) == 42
    firsts = clock.called[2::2]
    assert firsts.count("kernel") == firsts.count("library") == 10
    assert told["ratio"] == pytest.approx(1.5, rel=1e-3)
    low, high = told["ci95"]
    assert low < 1.5 < high and math.log(high / low) < 0.01
    assert told["torch_us"] / told["kernel_us"] == pytest.approx(1.5, rel=0.01)


@pytest.mark.parametrize("difference", [0.5, math.nan])
def test_who_does_something_else_is_not_compared(difference: float) -> None:
    clock = Clock(kernel_us=1.0, library_us=1.0)
    with pytest.raises(Rejected, match=r"differ from PyTorch's .* `kernel-scientist evaluate`"):
        paired(clock.sides(difference), blocks=5)
    assert clock.called == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.hip", "--task", "sgemm"], "none.hip: can't be read: no such file or directory"),
        (["{tmp}", "--task", "sgemm"], "can't be read: is a directory"),
        (["{tmp}/bytes.hip", "--task", "sgemm"], "can't be read: it is not UTF-8 text"),
        (["{seed}", "--task", "{tmp}/sgemm"], "other arguments than the shipped task sgemm"),
        (["{seed}", "--task", "sgem"], "no task 'sgem' (did you mean sgemm?)"),
        (["{seed}", "--task", "{other}"], "no operation of PyTorch is known here, but of sgemm, "),
        (["{seed}", "--task", "softmax"], "PyTorch"),
    ],
)
def test_what_cannot_be_compared_is_told_in_a_sentence(
    arguments: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # not installed
    seed, other = tmp_path / "seed.hip", tmp_path / "other"
    seed.write_text(load_task("softmax").naive)
    (other / "seeds").mkdir(parents=True)
    (other / "seeds" / "naive.hip").write_text(
        "/*---\nlaunches: [{kernel: f, grid: [1], block: [1], args: [y, N]}]\n---*/\n"
        "__global__ void f(float* y, int N) { for (int i = 0; i < N; ++i) y[i] = 1.0f; }\n"
    )
    (other / "task.yaml").write_text(
        "description: ones.\ndims: [N]\narguments:\n"
        "  - {name: y, dtype: float32, shape: [N], role: out, rtol: 0, atol: 0}\n"
        "tests: [{N: 3}]\nbenchmarks: [{N: 1024}]\n"
    )
    (other / "reference.py").write_text(
        "import numpy as np\n\n\ndef reference(N):\n    return {'y': np.ones(N, np.float32)}\n"
    )
    shutil.copytree(other, tmp_path / "sgemm")
    (tmp_path / "bytes.hip").write_bytes(b"\xff\xfe")
    given = [one.format(seed=seed, other=other, tmp=tmp_path) for one in arguments]
    assert main(given) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("beside_torch: ") and told in line


@pytest.mark.parametrize("task", OPERATIONS)
def test_operations_name_the_arguments_of_tasks_that_are_there(task: str) -> None:
    class Torch:
        """Takes whatever is asked of it."""

        def __getattr__(self, name: str) -> object:
            return lambda *_, **__: None

    class Tensor:
        T = None

        def copy_(self, other: object) -> None: ...

    own = {argument.name: Tensor() for argument in load_task(task).arguments}
    OPERATIONS[task](Torch(), own)
