"""Families: every one renders, plans, and computes the right result on ragged shapes."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from evaluators.device import backend
from evaluators.device_info import BACKENDS, target_of
from evaluators.evaluate import compile_kernel
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.measuring.correctness import workloads_of
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.speed_of_light import roof
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task_file import load_task
from operators.catalog.families import FAMILIES, families, random_params
from operators.catalog.random_search import random_candidate
from operators.catalog.structure import structure
from tests.soaked import one_in

TASKS = {
    "gemm": "sgemm",
    "softmax": "softmax",
    "sum": "sum_reduction",
    "transpose": "transpose",
    "block_scaled_gemm": "fp8_gemm",
}
NAMES = [family.name for family in FAMILIES]
KIND = {family.name: family.kind for family in FAMILIES}


def rendered(name: str) -> KernelSource:
    return families(load_task(TASKS[KIND[name]])).sources[name]


def sample(name: str, count: int) -> list[KernelSource]:
    """The default point, and random ones."""
    source = rendered(name)
    rng = np.random.default_rng(NAMES.index(name))
    points = [source.with_params(random_params(source, rng)) for _ in range(count - 1)]
    return [source, *points]


@pytest.mark.parametrize("name", NAMES)
def test_every_point_plans_for_every_workload_of_every_backend(name: str) -> None:
    task = load_task(TASKS[KIND[name]])
    for kernel in sample(name, 12):
        for where in kernel.backends or BACKENDS:
            for workload in workloads_of(task, ("tests", "benchmarks", "held_out"), where):
                plan = kernel.plan(task, workload, target_of(where))
                for launch in plan.launches:
                    assert np.prod(launch.block) <= 1024


@pytest.mark.parametrize("name", NAMES)
def test_a_point_is_recognised_as_its_familys(name: str) -> None:
    task = load_task(TASKS[KIND[name]])
    known = families(task)
    for kernel in sample(name, 4):
        assert known.of(parse_kernel(kernel.text)) == name
    changed = parse_kernel(kernel.text.replace("#pragma unroll", "", 1) + "// mine\n")
    assert known.of(changed) is None
    assert known.of(parse_kernel(task.naive)) is None


@pytest.fixture(scope="module")
def evaluator_of() -> Iterator[Callable[[str], Evaluator]]:
    """By task, whose seed's rounding is measured once for all its families."""
    device = backend("cpu").open_device(0)
    yield cache(lambda task: Evaluator(task=load_task(task), device=device, secret=5))
    device.close()


@pytest.mark.parametrize("name", one_in(4, [n for n in NAMES if not rendered(n).backends]))
def test_points_are_right_on_cpu(name: str, evaluator_of: Callable[[str], Evaluator]) -> None:
    evaluator = evaluator_of(TASKS[KIND[name]])
    compiler = backend("cpu").compiler()
    for kernel in sample(name, 4):
        _, compiled = compile_kernel(kernel.text, evaluator.task, compiler, "cpu")
        verdict = evaluator.verify(kernel, compiled, "tests")
        assert verdict.passed, f"{name} {dict(kernel.params)}: {verdict.reason}"


@pytest.mark.parametrize("name", NAMES)
def test_the_space_holds_the_defaults_and_fits_the_limits(name: str) -> None:
    source = rendered(name)
    assert set(source.space) == set(source.params)
    for parameter, value in source.params.items():
        assert value in source.space[parameter]
        assert list(source.space[parameter]) == sorted(source.space[parameter])


def test_the_best_known_product_is_slower_than_light() -> None:
    """The peak is measured by a kernel of our own, which has to be better than any other."""
    task, module = load_task("sgemm"), backend("cpu")
    point = {"TM": 16, "TN": 16, "BX": 8, "BY": 2, "KU": 8, "ORDER": 1, "EDGE": 1}
    kernel, compiled = compile_kernel(
        rendered("gemm_pack").with_params(point).text, task, module.compiler(), "cpu"
    )
    device = module.open_device(0)
    try:
        evaluator = Evaluator(task=task, device=device, secret=5)
        found = evaluator.measure(kernel, compiled, None)
        for workload in task.workloads("benchmarks", "cpu"):
            light = roof(task, workload, device.info)
            assert light is not None and light.bound == "arithmetic"
            assert found.times_us[workload.label] > light.time_us
    finally:
        device.close()


def write_task(folder: Path, reference: str, arguments: str, dims: str, shape: str) -> Path:
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(
        f"dims: {dims}\narguments:\n{arguments}tests: [{shape}]\nbenchmarks: [{shape}]\n"
    )
    (folder / "reference.py").write_text(reference)
    (folder / "seeds" / "naive.hip").write_text(
        "/*---\nlaunches:\n  - {kernel: f, grid: [1], block: [1], args: []}\n---*/\n"
        "__global__ void f() {}\n"
    )
    return folder


def argument(name: str, shape: str, role: str, dtype: str = "float32") -> str:
    tolerance = ", rtol: 0, atol: 0" if role == "out" else ""
    return f"  - {{name: {name}, dtype: {dtype}, shape: {shape}, role: {role}{tolerance}}}\n"


MATRICES = (
    argument("left", "[rows, depth]", "in")
    + argument("right", "[depth, BM]", "in")
    + argument("product", "[rows, BM]", "out")
)


def test_a_users_matrix_product_is_found_under_its_own_names(tmp_path: Path) -> None:
    reference = "def reference(left, right, **dims):\n    return {'product': left @ right}\n"
    shape = "{rows: 5, depth: 7, BM: 3}"
    task = load_task(write_task(tmp_path / "own", reference, MATRICES, "[BM, rows, depth]", shape))
    found = structure(task)
    assert found is not None
    assert found.kind == "gemm"
    assert {found.names[name] for name in "MNK"} == {"rows", "BM", "depth"}
    known = families(task)
    assert {"gemm_naive", "gemm_tile"} <= set(known.sources)
    workload = Workload(dims={"rows": 5, "depth": 7, "BM": 3}, suite="tests")
    plan = known.sources["gemm_tile"].plan(task, workload, target_of("cpu"))
    (launch,) = plan.launches
    assert launch.args[:3] == ("left", "right", "product")


def test_a_dim_named_like_a_parameter_takes_only_the_families_it_clashes_with(
    tmp_path: Path,
) -> None:
    reference = "def reference(left, right, **dims):\n    return {'product': left @ right}\n"
    arguments = MATRICES.replace("BM", "KU")
    task = load_task(
        write_task(
            tmp_path / "own",
            reference,
            arguments,
            "[rows, depth, KU]",
            "{rows: 5, depth: 7, KU: 3}",
        )
    )
    assert set(families(task).sources) == {"gemm_naive", "gemm_lds"}


def test_shapes_alone_do_not_make_a_known_problem(tmp_path: Path) -> None:
    """The largest sum of pairs has a matrix product's shapes; the reference tells them apart."""
    reference = (
        "def reference(left, right, **dims):\n"
        "    return {'product': (left[:, :, None] + right[None]).max(axis=1)}\n"
    )
    shape = "{rows: 5, depth: 7, BM: 3}"
    task = load_task(write_task(tmp_path / "own", reference, MATRICES, "[rows, depth, BM]", shape))
    assert structure(task) is None
    assert set(families(task).sources) == {"rows"}  # made of the reference


def test_other_types_are_no_known_problem(tmp_path: Path) -> None:
    reference = "def reference(left, right, **dims):\n    return {'product': left @ right}\n"
    arguments = MATRICES.replace("float32", "float16", 1)
    shape = "{rows: 5, depth: 7, BM: 3}"
    task = load_task(write_task(tmp_path / "own", reference, arguments, "[rows, depth, BM]", shape))
    assert structure(task) is None


@pytest.mark.parametrize("task", sorted(TASKS.values()))
def test_random_candidates_cover_the_families_and_repeat_by_seed(task: str) -> None:
    loaded = load_task(task)
    known = families(loaded)

    def draw() -> list[str]:
        rng = np.random.default_rng(3)
        return [random_candidate(loaded, rng).candidate.source for _ in range(60)]

    texts = draw()
    assert texts == draw()
    kernels = [parse_kernel(text) for text in texts]
    assert {known.of(kernel) for kernel in kernels} == set(known.sources)
    assert all(kernel.feasible({}) for kernel in kernels)
