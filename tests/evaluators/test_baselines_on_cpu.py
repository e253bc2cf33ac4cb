"""Baselines at work on cpu: raced beside a kernel, refused where they are wrong or not there."""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from evaluators.cpu.device import open_device
from evaluators.evaluate import compile_kernel, evaluate_file
from evaluators.evaluation import Status
from evaluators.measuring.baselines import (
    RacesBaselines,
    anchor_of,
    anchor_of_kernel,
    besides,
    sit_beside,
)
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.headline import baseline_lines, headline, headline_text
from evaluators.measuring.policy import Anchor, TimingPolicy
from evaluators.measuring.sittings import CPU_SPREAD, Sitting, sit
from evaluators.measuring.trusted_kernels import compiled_naive
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.evaluators.small_task import SLOW, kernel, write_task

LIBRARY = """
void twice(const float *w, const float *x, int *t, float *y, long n) {
    for (long i = 0; i < n; ++i) { t[i] *= 2; y[i] = 2.0f * x[i] + w[i]; }
}
"""
CALLS = """
import ctypes
from functools import cache
from pathlib import Path

@cache
def library():
    return ctypes.CDLL(str(Path(__file__).with_name("twice.so")))

def twice(w, x, t, y, N, stream):
    assert stream == 0
    pointers = [ctypes.c_void_p(one.ctypes.data) for one in (w, x, t, y)]
    return lambda: library().twice(*pointers, ctypes.c_long(N))

def lacking(**given):
    return lambda: ctypes.CDLL("libnowhere.so.1")

def no_call(x):
    return 3

def quitting(x):
    import os
    return lambda: os._exit(3)
"""
QUICK = TimingPolicy(link_blocks=4, link_budget_s=0.2, interval_us=500.0)
"""Of a shape few blocks: what is asked here is whether there are any."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = write_task(tmp_path / "small")
    (made / "calls.py").write_text(CALLS)
    (made / "slow.hip").write_text(SLOW)
    (made / "wrong.hip").write_text(kernel(after="if (i == 99) y[i] += 1.0f;"))
    (made / "twice.c").write_text(LIBRARY)
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", "-o", made / "twice.so", made / "twice.c"], check=True
    )
    return made


def named(folder: Path, *lines: str) -> Task:
    text = (folder / "task.yaml").read_text()
    listed = "".join(f"  - {line}\n" for line in lines)
    (folder / "task.yaml").write_text(f"{text}baselines:\n{listed}")
    return load_task(folder)


@pytest.fixture
def sat(folder: Path) -> Iterator["Sat"]:
    yield Sat(folder)


class Sat:
    """One sitting of the right kernel beside the seed and the baselines that are named."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, *lines: str) -> tuple[Sitting, dict[str, str]]:
        """The sitting, and the baselines' names by id."""
        task = named(self._folder, *lines)
        with closing(open_device(0)) as device:
            evaluator = Evaluator(task=task, device=device, secret=1, policy=QUICK)
            assert isinstance(evaluator, RacesBaselines)
            seed, compiled = compiled_naive(task, device.info)
            from evaluators.cpu.device import compiler

            anchors = []
            for one in task.baselines:
                if one.kind == "kernel":
                    made = compile_kernel(one.file.read_text(), task, compiler(), "cpu")
                    anchors.append(anchor_of_kernel(one, *made))
                else:
                    anchors.append(anchor_of(one, device.info))
            anchor = Anchor(kernel_id=seed.id, kernel=seed, compiled=compiled)
            held = sit(evaluator, seed, compiled, [anchor], check=False)
            held = sit_beside(evaluator, seed, compiled, anchors, held)
            return held, {one.kernel_id: one.name for one in anchors}


def test_right_ones_are_raced_on_every_benchmark_shape(sat: Sat) -> None:
    held, names = sat(
        "{name: numpy, numpy: \"{'y': 2 * x + w, 't': 2 * t}\"}",
        '{name: pair, numpy: "(2 * t, 2 * x + w)"}',
        '{name: library, call: "calls.py:twice"}',
        "{name: slow, kernel: slow.hip}",
    )
    assert held.verdict.passed and held.failed == {}
    assert len(held.blocks) == 5 and names.keys() < held.blocks.keys()
    for blocks in held.blocks.values():
        assert blocks.keys() == {"N=3000", "N=5001"}
        assert all(len(values) >= 2 for values in blocks.values())
    found = besides([held], names, CPU_SPREAD, {})
    slow = found["slow"].ratio
    assert slow is not None and slow[0] > 5, "2000 steps for each element"
    assert found["slow"].gains.keys() == {"N=3000", "N=5001"}


@pytest.mark.parametrize(
    ("line", "status", "told"),
    [
        ('{name: it, numpy: "(2 * t, 2 * x)"}', Status.WRONG, "y["),
        ('{name: it, numpy: "(t, 2 * x + w)"}', Status.WRONG, "t["),
        ("{name: it, kernel: wrong.hip}", Status.WRONG, "y[99]"),
        ('{name: it, numpy: "2 * x"}', Status.LAUNCH_ERROR, "the task has 2 outputs"),
        ("{name: it, numpy: \"{'y': x}\"}", Status.LAUNCH_ERROR, "no 't'"),
        ('{name: it, numpy: "(2 * t, x[1:])"}', Status.LAUNCH_ERROR, "y has the shape"),
        ('{name: it, numpy: "(0.5 * t, x)"}', Status.LAUNCH_ERROR, "same_kind"),
        ('{name: it, numpy: "(2 * t, missing)"}', Status.LAUNCH_ERROR, "NameError"),
        ('{name: it, call: "calls.py:no_call"}', Status.LAUNCH_ERROR, "what makes one call"),
        ('{name: it, call: "calls.py:none"}', Status.LAUNCH_ERROR, "none"),
        ('{name: it, call: "calls.py:lacking"}', Status.UNSUPPORTED, "libnowhere.so.1"),
        ('{name: it, call: "calls.py:quitting"}', Status.CRASHED, "exit status 3"),
    ],
)
def test_a_wrong_one_is_refused_with_a_sentence(
    sat: Sat, line: str, status: Status, told: str
) -> None:
    held, names = sat(line)
    (identity,) = names
    assert held.verdict.passed, "it is no fault of the kernel's"
    assert identity not in held.blocks
    failed = held.failed[identity]
    assert failed.status is status and told in failed.reason
    assert "\n" not in failed.reason
    (beside,) = besides([held], names, CPU_SPREAD, {}).values()
    assert beside.ratio is None
    assert beside.refused.startswith(
        "was not measured: " if status is Status.UNSUPPORTED else "was refused: "
    )


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed here")
def test_torch_that_is_not_installed_is_said(sat: Sat) -> None:
    held, names = sat('{name: torch, torch: "(2 * t, 2 * x + w)"}')
    found = besides([held], names, CPU_SPREAD, {})
    assert [*baseline_lines((2.0, 1.9, 2.1), found)] == [
        "baseline torch was not measured: torch is not installed here"
    ]
    assert headline((2.0, 1.9, 2.1), found) is None


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed here")
def test_torch_itself_on_cpu(sat: Sat) -> None:
    held, names = sat('{name: torch, torch: "(2 * t, torch.add(w, x, alpha=2))"}')
    assert held.failed == {} and names.keys() < held.blocks.keys()


def test_a_stand_in_for_torch_gets_tensors_on_the_memory_itself(
    sat: Sat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tests/evaluators/torch_double is numpy under torch's names: no test of torch."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "torch_double"))
    held, names = sat('{name: torch, torch: "(t.mul_(2), 2 * x + w)"}')
    assert held.failed == {}, "in place for t, elsewhere for y"
    assert names.keys() < held.blocks.keys()


def test_evaluate_says_which_baseline_is_the_fastest(folder: Path) -> None:
    task = named(
        folder,
        '{name: library, call: "calls.py:twice"}',
        '{name: wrong, numpy: "(t, x)"}',
        "{name: gone, kernel: slow.hip, backends: [cuda]}",
    )
    (folder / "slow.hip").unlink()
    found = evaluate_file(folder / "seeds" / "naive.hip", task, "cpu", policy=QUICK, seconds=0.1)
    assert found.passed and found.baselines.keys() == {"library", "wrong"}
    assert found.baselines["wrong"].refused.startswith("was refused: ")
    assert found.speedup is not None and found.ci95 is not None
    first = headline((found.speedup, *found.ci95), found.baselines)
    assert first is not None and first.among == 2
    assert "the fastest of 2 baselines" in headline_text(first, found.speedup)


def test_the_headline_is_over_the_fastest_baseline() -> None:
    from evaluators.evaluation import Beside

    beside = {
        "torch": Beside(ratio=(1.42, 1.38, 1.46)),
        "mine": Beside(ratio=(2.0, 1.9, 2.1)),
        "lib": Beside(refused="was not measured: it is not here"),
    }
    found = headline((3.1, 3.0, 3.2), beside)
    assert found is not None and (found.name, found.among) == ("torch", 3)
    assert headline_text(found, 3.1) == (
        "1.42x over torch (the fastest of 3 baselines), 3.10x over the naive seed"
    )
    slow = headline((1.2, 1.1, 1.3), beside)
    assert slow is not None
    assert headline_text(slow, 1.2) == "1.20x over the naive seed (the fastest of 3 baselines)"


SETTINGS = """dims: [R, C, LD]
attributes: {shift: 0.5}
dtypes: {T: [float32, bfloat16]}
arguments:
  - {name: x, dtype: T, shape: [R, C], strides: [LD, 1], role: in}
  - {name: bias, dtype: float32, shape: [C], role: in, optional: true}
  - {name: y, dtype: T, shape: [R, C], role: out, rtol: {float32: 1.0e-5, bfloat16: 2.0e-2},
     atol: 1.0e-5}
tests: [{R: 3, C: 5, LD: 9}]
benchmarks:
  - {R: 30, C: 50, LD: 64, weight: 2}
  - {R: 40, C: 20, LD: 20, T: bfloat16, bias: null, shift: 2.0}
baselines:
  - {name: it, numpy: "x.astype(np.float32) + (0 if bias is None else bias) + np.float32(shift)"}
  - {name: called, call: "calls.py:shifted"}
"""
OF_SETTINGS = """
def reference(x, bias, shift, R, C):
    return {"y": x + (0 if bias is None else bias) + shift}
"""
SEED_OF_SETTINGS = """/*---
launches:
  - {kernel: "go<T>", grid: [R], block: [64], args: [x, bias, y, C, LD, shift]}
---*/
#include <hip/hip_bf16.h>
template <typename T>
__global__ void go(const T* x, const float* bias, T* y, int C, int LD, float shift) {
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        float own = (float)x[blockIdx.x * LD + c] + shift;
        y[blockIdx.x * C + c] = (T)(bias ? own + bias[c] : own);
    }
}
"""
CALLS_OF_SETTINGS = """
import numpy as np

def shifted(x, bias, y, shift, T, R, C):
    assert x.shape == y.shape == (R, C) and str(x.dtype) == T
    def call():
        y[...] = x.astype(np.float32) + np.float32(shift) + (0 if bias is None else bias)
    return call
"""


@pytest.mark.soak
def test_they_get_what_a_workload_sets(tmp_path: Path) -> None:
    """Views with strides, a dtype parameter, an attribute, and None for what is null."""
    folder = tmp_path / "settings"
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(SETTINGS)
    (folder / "reference.py").write_text(OF_SETTINGS)
    (folder / "calls.py").write_text(CALLS_OF_SETTINGS)
    (folder / "seeds" / "naive.hip").write_text(SEED_OF_SETTINGS)
    task = load_task(folder)
    found = evaluate_file(folder / "seeds" / "naive.hip", task, "cpu", policy=QUICK, seconds=0.1)
    assert found.passed, found.reason
    assert found.baselines.keys() == {"it", "called"}
    for beside in found.baselines.values():
        assert beside.ratio is not None, beside.refused
        assert beside.gains.keys() == found.times_us.keys() == found.weights.keys()
    assert list(found.weights.values()) == [2.0, 1.0] and found.whole is not None
