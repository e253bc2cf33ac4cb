"""Families written from a formula: right at random points on every backend's rules."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from evaluators.device import backend
from evaluators.device_info import target_of
from evaluators.evaluate import compile_kernel
from evaluators.hip import device as hip
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.source import KernelSource
from evaluators.measuring.evaluator import Evaluator
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.catalog.families import Families, families, random_params
from operators.catalog.generated import WRITERS
from tests.operators.catalog.formula.tasks import turned, written
from tests.soaked import one_in

TUTORIAL = Path(__file__).parents[2] / "kernels" / "tutorial"
KNOWN = [
    ("layernorm_butterfly", "rows"),
    ("softmax_rows", "rows"),
    ("argmax_rows", "rows"),
    ("row_norm_shfl_down", "rows"),
    ("matvec_wavefront", "rows"),
    ("column_fold_functor", "rows"),
    ("rmsnorm_half", "rows"),
    ("stencil_halo", "elements"),
    ("conv2d_tile", "elements"),
    ("matmul_double_buffer", "product"),
    ("matmul_dynamic_lds", "product"),
    ("scan_blelloch", "scan"),
    ("scan_hillis_steele", "scan"),
]
FAMILY = {"rows": "rows", "elements": "elements", "product": "product_tile", "scan": "scan"}


def tutorial(name: str) -> Task:
    return load_task(TUTORIAL / name)


def points(known: Families, count: int) -> Iterator[KernelSource]:
    """The defaults, and random ones, of every family."""
    rng = np.random.default_rng(3)
    for source in known.sources.values():
        yield source
        for _ in range(count - 1):
            yield source.with_params(random_params(source, rng))


@pytest.fixture(scope="module")
def evaluator_of() -> Iterator[Callable[[Path], Evaluator]]:
    """By task, whose seed's rounding is measured once for all its families."""
    device = backend("cpu").open_device(0)
    yield cache(lambda folder: Evaluator(task=load_task(folder), device=device, secret=5))
    device.close()


@pytest.mark.parametrize(("name", "kind"), one_in(4, KNOWN))
def test_points_are_right_on_cpu(
    name: str, kind: str, evaluator_of: Callable[[Path], Evaluator]
) -> None:
    evaluator = evaluator_of(TUTORIAL / name)
    known = families(evaluator.task)
    assert known.kind == kind
    assert FAMILY[kind] in known.sources
    for kernel in points(known, 3):
        _, compiled = compile_kernel(kernel.text, evaluator.task, backend("cpu").compiler(), "cpu")
        verdict = evaluator.verify(kernel, compiled, "tests")
        assert verdict.passed, f"{dict(kernel.params)}: {verdict.reason}"


@pytest.mark.parametrize("name", ["argmax_rows", "stencil_halo", "rmsnorm_half", "scan_blelloch"])
def test_points_compile_for_gfx942(gfx942: HiprtcChild, name: str) -> None:
    task = tutorial(name)
    compiler = hip.compiler(arch="gfx942", child=gfx942)
    for source in families(task).sources.values():
        _, compiled = compile_kernel(source.text, task, compiler, "hip")
        assert compiled.binaries


LINEAR = {"x": "[R, K]", "w": "[C, K]", "b": "[C]"}
SHAPES = "[{R: 5, C: 6, K: 9}, {R: 3, C: 35, K: 70}]"


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_linear_layer_is_a_product_in_any_type(dtype: str, tmp_path: Path) -> None:
    body = "h = x @ w.T + b\nreturn {'y': np.maximum(h, 0)}"
    task = written(
        tmp_path / "linear", body, LINEAR, "[R, C]", SHAPES, dtype=dtype, dims="[R, C, K]"
    )
    known = families(task)
    assert known.kind == "product"
    assert set(known.sources) == {"product_tile", "product_lds"}
    for source in known.sources.values():
        for workload in task.workloads("tests", "cpu"):
            assert source.plan(task, workload, target_of("cpu")).launches


@pytest.mark.parametrize(
    ("body", "inputs", "output"),
    [
        ("y = np.einsum('brk,bkc->brc', x, z)", {"x": "[B, R, K]", "z": "[B, K, C]"}, "[B, R, C]"),
        ("y = np.einsum('rbk,cbk->brc', x, z)", {"x": "[R, B, K]", "z": "[C, B, K]"}, "[B, R, C]"),
        ("y = 0.5 * (x @ z) + x.shape[0]", {"x": "[B, R, K]", "z": "[K, C]"}, "[B, R, C]"),
    ],
)
def test_layouts_of_a_product(
    body: str, inputs: dict[str, str], output: str, tmp_path: Path
) -> None:
    shapes = "[{B: 2, R: 5, C: 6, K: 9}, {B: 3, R: 4, C: 35, K: 70}]"
    task = written(
        tmp_path / "p", f"{body}\nreturn {{'y': y}}", inputs, output, shapes, dims="[B, R, C, K]"
    )
    assert families(task).kind == "product"


def test_a_dim_with_a_parameters_name_leaves_the_family_out(tmp_path: Path) -> None:
    body = "return {'y': x.sum(1)}"
    task = written(
        tmp_path / "t",
        body,
        {"x": "[LANES, C]"},
        "[LANES]",
        "[{LANES: 5, C: 6}, {LANES: 3, C: 35}]",
        dims="[LANES, C]",
    )
    assert families(task).sources == {}


def test_every_writer_is_met(tmp_path: Path) -> None:
    known = [*(tutorial(task) for task, _ in KNOWN), turned(tmp_path / "t")]
    met = {name for task in known for name in families(task).sources}
    assert met == set(WRITERS)
