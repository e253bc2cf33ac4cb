"""Block-scaled fp8 products: recognised under any names, with kernels for each backend."""

from pathlib import Path

import pytest

from evaluators.checks.gpu_outputs import drawn_on_device, small_tests
from evaluators.checks.shapes import costed
from evaluators.kernel.seeds import on_backend
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task
from operators.catalog.families import families
from operators.catalog.search_space import search_space
from operators.catalog.structure import structure
from tests.operators.catalog.fp8 import changed

FP8 = load_task("fp8_gemm")


@pytest.mark.parametrize(
    ("backend", "names"), [("cpu", {"fp8_tile"}), ("cuda", {"fp8_tile"}), ("hip", None)]
)
def test_each_backend_has_the_kernels_that_it_can_run(backend: str, names: set[str] | None) -> None:
    task = on_backend(FP8, backend)
    assert set(families(task).sources) == (names or {"fp8_tile", "fp8_mfma"})
    assert search_space(task).kind == "block_scaled_gemm"


def test_its_seeds_are_points_of_the_families() -> None:
    known = families(FP8)
    assert {name: known.of(parse_kernel(text)) for name, text in FP8.seeds.items()} == {
        "naive": None,
        "tiled": "fp8_tile",
        "mfma": "fp8_mfma",
    }


def test_other_names_are_no_other_problem(tmp_path: Path) -> None:
    task = changed(
        tmp_path / "t", ("a_scale", "left_scale"), ("name: c,", "name: out,"), ('"c"', '"out"')
    )
    found = structure(task)
    assert found is not None and found.names["a_scale"] == "left_scale"
    source = families(task).sources["fp8_mfma"]
    assert "left_scale, b_scale, out" in source.text.partition("---*/")[0]


@pytest.mark.parametrize(
    "change",
    [
        ("{M: 64, N: 64, K: 128}", "{M: 60, N: 64, K: 128}"),  # loads of 16 bytes
        ("name: b_scale, dtype: float32", "name: b_scale, dtype: float64"),
        ("np.repeat(b_scale[block], 128)", "np.repeat(b_scale[-1 - block], 128)"),
        ('"K // 128", "ceil_div(N, 128)"', '"K // 128", "ceil_div(N, 64)"'),
    ],
)
def test_what_is_another_problem_has_no_such_family(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    assert structure(changed(tmp_path / "t", change)) is None


def test_shapes_that_are_counted_keep_what_divides_sizes() -> None:
    for workload in costed(FP8, "hip"):
        assert workload.dims["M"] % 32 == workload.dims["N"] % 64 == workload.dims["K"] % 128 == 0


def test_large_tests_are_drawn_on_the_device() -> None:
    drawn, small = drawn_on_device(FP8, "cuda"), small_tests(FP8, "cuda")
    tests = {one.label for one in FP8.workloads("tests", "cuda")}
    assert "M=96 N=4608 K=7168" in drawn and "M=96 N=64 K=384" not in drawn
    assert {one.label for one in small} == tests - drawn
    assert {one.label for one in FP8.workloads("benchmarks", "cuda")} <= drawn
