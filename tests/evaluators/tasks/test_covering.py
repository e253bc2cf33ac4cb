"""Derived shapes meet every remainder that a task's sizes allow, and nothing that it refuses."""

import math
from pathlib import Path

import pytest

from evaluators.checks.shapes import (
    FURTHER_BUILDS,
    SMALL_BYTES,
    derived_shapes,
    shapes_for,
    unmet_conditions,
)
from evaluators.device import backend
from evaluators.device_info import target_of
from evaluators.evaluate import Evaluator, compile_kernel
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.arguments import SUITES, Workload
from evaluators.tasks.covering import MANY, REMAINDERS, above, below, covering_shapes
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task, shipped_tasks
from tests.evaluators.small_task import FRONT, kernel, write_task


def shapes(*dims: dict[str, int]) -> list[Workload]:
    return [Workload(dims=one, suite="tests") for one in dims]


@pytest.mark.parametrize("name", shipped_tasks())
@pytest.mark.parametrize("where", ["cpu", "hip"])
def test_every_dim_of_a_shipped_task_meets_every_remainder(name: str, where: str) -> None:
    """In units of what divides its stated values. Where many dims make one array few shapes are
    small, and some dims miss a remainder or two."""
    task = load_task(name)
    derived = derived_shapes(task, where)
    stated = [w for suite in SUITES for w in task.workloads(suite, where)]
    assert not {w.label for w in stated} & {w.label for w in derived}
    assert 6 <= len(derived) <= 13
    for dim in task.dims:
        step = math.gcd(*(w.dims[dim] for w in stated))
        values = {w.dims[dim] // step for w in derived}
        allowed = max(w.dims[dim] for w in stated) // step
        missed = set(range(REMAINDERS)) - {value % REMAINDERS for value in values}
        few = allowed < REMAINDERS or len(task.dims) >= MANY
        assert len(missed) <= (2 if few else 0), dim
        assert len(values) >= (3 if few else 5), dim
        near = {v + e for v in values for e in (-1, 0, 1) if (v + e) & (v + e - 1) == 0}
        assert near, dim


def test_they_are_the_same_each_time() -> None:
    made = [covering_shapes(shapes({"N": 1}, {"N": 999}), lambda _: True) for _ in range(2)]
    assert made[0] == made[1]
    assert made[0]


def test_what_divides_all_stated_values_divides_derived_ones() -> None:
    stated = shapes({"N": 64, "H": 8}, {"N": 1024, "H": 8}, {"N": 4096, "H": 8})
    made = [*covering_shapes(stated, lambda _: True), *below(stated[1], stated, lambda _: True)]
    assert {w.dims["N"] // 64 % REMAINDERS for w in made} == set(range(REMAINDERS))
    assert all(w.dims["N"] % 64 == 0 and w.dims["H"] == 8 for w in made)


def test_dims_keep_their_relations() -> None:
    """Groups that divide a size, squares, and k at most n."""
    stated = shapes(
        {"N": 8, "M": 8, "G": 2, "K": 1},
        {"N": 90, "M": 90, "G": 5, "K": 7},
        {"N": 512, "M": 512, "G": 4, "K": 512},
    )
    made = [*covering_shapes(stated, lambda _: True), *below(stated[2], stated, lambda _: True)]
    assert len(made) >= 3
    for w in made:
        assert w.dims["N"] == w.dims["M"] and w.dims["N"] % w.dims["G"] == 0
        assert w.dims["K"] <= w.dims["N"]


def test_what_is_too_large_is_halved() -> None:
    stated = shapes({"N": 1}, {"N": 1 << 20})
    made = below(stated[1], stated, lambda w: w.dims["N"] <= 100_000)
    assert [w.dims["N"] % REMAINDERS for w in made] == [2, 3]
    assert all(50_000 < w.dims["N"] <= 100_000 for w in made)


def test_dims_are_large_at_once_that_never_were() -> None:
    stated = shapes({"R": 1, "C": 1}, {"R": 1000, "C": 200}, {"R": 100, "C": 8000})
    (made,) = above(stated[1], stated, lambda w: w.dims["R"] * w.dims["C"] <= 500_000)
    assert made.dims == {"R": 997, "C": 397}
    assert above(stated[1], stated, lambda _: False) == ()


def test_one_that_is_larger_is_of_four_times_the_work_at_most() -> None:
    """Not of every task: its largest benchmark may be as large as its dims may be."""
    without = set()
    for name in shipped_tasks():
        task = load_task(name)
        largest = max(task.workloads("benchmarks", "cpu"), key=task.nbytes)
        nbytes = max(SMALL_BYTES, task.nbytes(largest))
        larger = [w for w in derived_shapes(task, "cpu") if task.nbytes(w) > nbytes]
        without |= set() if larger else {name}
        for one in larger:
            assert task.nbytes(one) <= 4 * task.nbytes(largest)
            assert task.flops is None or (
                task.flops.evaluate(one.env) <= 4 * task.flops.evaluate(largest.env)
            )
    assert not without & {"sgemm", "softmax", "transpose", "layer_norm", "batched_gemm"}


def task_with(folder: Path, *, seed: str = "", reference: str = "") -> Task:
    write_task(folder, seed=seed)
    if reference:
        (folder / "reference.py").write_text(reference)
    return load_task(folder)


ONLY_EVEN = """
def reference(w, x, t, N):
    if N % 2 and N not in (1, 5001):
        raise ValueError("odd")
    return {"y": 2 * x + w, "t": 2 * t}
"""


def test_what_the_reference_or_a_seed_refuses_is_left_out(tmp_path: Path) -> None:
    even = task_with(tmp_path / "even", reference=ONLY_EVEN)
    assert derived_shapes(even, "cpu")
    small = [w.dims["N"] for w in derived_shapes(even, "cpu") if w.dims["N"] < 1000]
    assert small and all(n % 2 == 0 for n in small)
    grid = kernel().replace('"ceil_div(N, 64)"', '"ceil_div(N, 64) * (N < 2 or N > 99)"')
    refusing = task_with(tmp_path / "refusing", seed=grid)
    assert all(w.dims["N"] > 99 for w in derived_shapes(refusing, "cpu"))


def test_where_the_seed_itself_is_wrong_nobody_is_asked(tmp_path: Path) -> None:
    """It is right on stated shapes: what it does on others says nothing about a kernel."""
    seed = kernel(before="if (N % 4 == 2) return;")
    task = task_with(tmp_path / "a", seed=seed)
    assert any(w.dims["N"] % 4 == 2 for w in derived_shapes(task, "cpu"))
    device = backend("cpu").open_device(0)
    evaluator = Evaluator(task=task, device=device, secret=3)
    built, compiled = compile_kernel(seed + "// again", task, backend("cpu").compiler(), "cpu")
    verdict = evaluator.verify(built, compiled, "held_out")
    device.close()
    assert verdict.passed, verdict.reason
    labels = {key.partition("/")[0] for key in verdict.errors}
    assert len(labels) > 1 and all(int(label[2:]) % 4 != 2 for label in labels)


def test_a_kernel_compiled_for_each_size_is_not_compiled_for_all_of_them(tmp_path: Path) -> None:
    task = task_with(tmp_path / "a")
    text = kernel().replace("---*/", "specialize: [N]\n---*/")
    source = parse_kernel(text)
    chosen = shapes_for(source, task, "held_out", "cpu")
    assert len(chosen) == 1 + FURTHER_BUILDS
    assert chosen == shapes_for(source, task, "held_out", "cpu")
    usual = shapes_for(parse_kernel(kernel()), task, "held_out", "cpu")
    assert len(usual) == 1 + len(derived_shapes(task, "cpu"))


def with_variant(condition: str) -> KernelSource:
    further = f'params: {{U: 1}}\nvariants: [{{when: "{condition}", params: {{U: 2}}}}]\n---*/'
    return parse_kernel(kernel(front=FRONT.replace("---*/", further)))


@pytest.mark.parametrize("condition", ["N > 1200 and N < 1207", "N == 1200"])
def test_a_condition_that_holds_on_no_checked_shape_gets_one(
    condition: str, tmp_path: Path
) -> None:
    task, source = task_with(tmp_path / "a"), with_variant(condition)
    *_, further = shapes_for(source, task, "held_out", "cpu")
    assert source.params_for(further, target_of("cpu")) == {"U": 2}
    assert further not in derived_shapes(task, "cpu")
    assert unmet_conditions(source, task, "cpu") == ()


@pytest.mark.parametrize("condition", ["N > 100000", "N == 7000"])
def test_a_condition_for_which_none_is_found_is_told_and_no_held_out_shape(
    condition: str, tmp_path: Path
) -> None:
    """Of the second one a held-out shape is: who asks for it is told the same."""
    task, source = task_with(tmp_path / "a"), with_variant(condition)
    assert unmet_conditions(source, task, "cpu") == (f"the variant for {condition!r}",)
    usual = shapes_for(parse_kernel(kernel()), task, "held_out", "cpu")
    assert shapes_for(source, task, "held_out", "cpu") == usual
