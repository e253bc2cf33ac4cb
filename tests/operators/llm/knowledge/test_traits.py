"""What is known of tasks from what they declare, whatever they are called."""

from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.llm.knowledge.traits import TRAITS, Trait, traits_of

KERNELS = Path(__file__).parents[3] / "kernels"
ATTENTION = """
description: Each query looks at all keys.
dims: [H, S, D]
arguments:
  - {name: q, dtype: float16, shape: [H, S, D], role: in, distribution: normal}
  - {name: k, dtype: float16, shape: [H, S, D], role: in, distribution: normal}
  - {name: v, dtype: float16, shape: [H, S, D], role: in, distribution: normal}
  - {name: o, dtype: float16, shape: [H, S, D], role: out, rtol: 1.0e-2, atol: 1.0e-3}
flops: "4 * H * S * S * D"
operations: {exp: "H * S * S"}
bytes: "8 * H * S * D"
tests: [{H: 1, S: 64, D: 64}]
benchmarks: [{H: 32, S: 4096, D: 128}]
held_out: [{H: 3, S: 100, D: 64}]
"""
ATTENTION_REFERENCE = """
import numpy as np


def reference(q, k, v, **_):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return {"o": weights / weights.sum(-1, keepdims=True) @ v}
"""
GELU = """
description: The sigmoid form of GELU.
dims: [N]
arguments:
  - {name: x, dtype: bfloat16, shape: [N], role: in, distribution: normal}
  - {name: y, dtype: bfloat16, shape: [N], role: out, rtol: 1.0e-2, atol: 1.0e-3}
bytes: "4 * N"
tests: [{N: 64}]
benchmarks: [{N: 67108864}]
held_out: [{N: 100}]
"""
GELU_REFERENCE = """
import numpy as np


def reference(x, **_):
    return {"y": x / (1 + np.exp(-1.702 * x))}
"""


def written(folder: Path, task: str, reference: str) -> Task:
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(task)
    (folder / "reference.py").write_text(reference)
    seed = "/*---\nlaunches: [{kernel: k, grid: [1], block: [1], args: []}]\n---*/\n"
    (folder / "seeds" / "naive.hip").write_text(f"{seed}__global__ void k() {{}}\n")
    return load_task(str(folder))


def of(task: Task, backend: str = "hip") -> set[Trait]:
    return set(traits_of(task, backend)) - {"any"}


@pytest.mark.parametrize(
    ("name", "backend", "wanted"),
    [
        ("sgemm", "hip", {"product", "reuse", "small"}),
        ("sgemm", "cpu", {"product", "reuse", "small"}),
        ("softmax", "hip", {"reduction", "special", "streaming"}),
        ("softmax", "cpu", {"reduction", "special", "streaming", "small"}),
        ("sum_reduction", "hip", {"reduction", "streaming"}),
        ("transpose", "hip", {"movement", "streaming"}),
        ("fp8_mfma_gemm", "hip", {"product", "reuse", "low_precision", "fp8"}),
        ("tutorial/matvec_wavefront", "hip", {"reduction", "streaming", "small"}),
        ("tutorial/matmul_double_buffer", "hip", {"product", "reuse", "small"}),
        ("tutorial/nbody_tiles", "hip", {"reduction", "reuse", "small"}),
        ("tutorial/conv2d_tile", "hip", {"reuse", "small"}),
        ("tutorial/stencil_halo", "hip", {"streaming", "small"}),
        ("tutorial/bitonic_sort", "hip", {"movement", "streaming", "small"}),
        ("tutorial/histogram_lds", "hip", {"reduction", "streaming", "small"}),
        ("tutorial/rmsnorm_half", "hip", {"reduction", "streaming", "small", "low_precision"}),
        ("tutorial/transpose_padded", "hip", {"movement", "streaming", "small"}),
    ],
)
def test_traits_of_tasks(name: str, backend: str, wanted: set[Trait]) -> None:
    folder = KERNELS / name
    assert of(load_task(str(folder) if folder.is_dir() else name), backend) == wanted


def test_a_task_that_nobody_has_seen_is_judged_by_what_it_declares(tmp_path: Path) -> None:
    attention = written(tmp_path / "transpose", ATTENTION, ATTENTION_REFERENCE)
    assert of(attention) == {"product", "reuse", "reduction", "special", "low_precision"}
    gelu = written(tmp_path / "matmul", GELU, GELU_REFERENCE)
    assert of(gelu) == {"streaming", "special", "low_precision"}


def test_a_product_that_states_no_work_is_told_by_its_shapes() -> None:
    sgemm = load_task("sgemm")
    assert "product" in of(replace(sgemm, flops=None, reference_text=""))
    assert "product" in of(replace(sgemm, flops=None, reference_text="not python ("))
    matvec = load_task(str(KERNELS / "tutorial" / "matvec_wavefront"))
    assert of(replace(matvec, flops=None)) == of(matvec)


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [
        ("return {'y': softmax(x, axis=1)}", {"reduction", "special"}),
        ("return {'y': np.maximum(x, max(0, 1))}", set()),
        ("return {'y': np.cumsum(x, axis=1)}", {"reduction"}),
    ],
)
def test_a_reference_tells_by_what_it_calls(reference: str, wanted: set[Trait]) -> None:
    """Where the rest of a task tells nothing: transpose has one input, and is exact."""
    task = replace(load_task("transpose"), reference_text=f"def reference(x):\n    {reference}")
    assert of(task) - {"movement", "streaming"} == wanted


def test_every_trait_is_some_tasks() -> None:
    names = ("sgemm", "softmax", "transpose", str(KERNELS / "fp8_mfma_gemm"))
    assert set().union(*(traits_of(load_task(name), "cpu") for name in names)) == set(TRAITS)
