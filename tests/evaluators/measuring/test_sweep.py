"""Random held-out shapes: where they lie, and of whom nothing is asked there."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.checks.shapes import SWEPT, SWEPT_BYTES, SWEPT_FLOPS, swept_shapes
from evaluators.device import Device, backend
from evaluators.evaluate import Evaluator, TimingPolicy, compile_kernel
from evaluators.evaluation import Rejected, Status, Verdict
from evaluators.kernel.source import parse_kernel
from evaluators.tasks import covering
from evaluators.tasks.arguments import SUITES, Workload
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task, shipped_tasks
from tests.evaluators.small_task import FRONT, kernel, write_task
from tests.soaked import one_in

Verdicts = dict[str, Verdict]
FIRST = ("sgemm", "softmax", "sum_reduction", "transpose")
"""Whose dims may all be large."""


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    device = backend("cpu").open_device(0)
    yield device
    device.close()


def verdict(task: Task, text: str, device: Device) -> Verdict:
    """On held-out shapes, as `evaluate` asks; without unusual values, which are not asked about."""
    task = replace(task, values=())
    policy = TimingPolicy(thorough=True)
    evaluator = Evaluator(task=task, device=device, secret=3, policy=policy)
    built = compile_kernel(text, task, backend("cpu").compiler(), "cpu")
    return evaluator.verify(*built, "held_out")


def swept(text: str, task: Task, where: str = "cpu", seed: int = 0) -> tuple[Workload, ...]:
    return swept_shapes(parse_kernel(text), task, where, np.random.default_rng(seed))


@pytest.mark.parametrize("name", one_in(3, shipped_tasks()))
@pytest.mark.parametrize("where", ["cpu", "hip"])
def test_dims_meet_most_remainders(name: str, where: str) -> None:
    task = load_task(name)
    shapes = swept(task.naive, task, where)
    stated = [w for suite in SUITES for w in task.workloads(suite, where)]
    steps = {dim: math.gcd(*(w.dims[dim] for w in stated)) for dim in task.dims}
    least = 40 if min(steps.values()) > 8 else SWEPT  # of coarse dims there are few small shapes
    assert least <= len(shapes) == len({w.label for w in shapes}) <= SWEPT
    assert not {w.label for w in stated} & {w.label for w in shapes}
    assert shapes != swept(task.naive, task, where, seed=1)
    assert max(map(task.nbytes, shapes)) <= SWEPT_BYTES
    if task.flops is not None:
        assert max(task.flops.evaluate(w.env) for w in shapes) <= SWEPT_FLOPS
    for dim in task.dims:
        values = [w.dims[dim] for w in shapes]
        assert min(values) < 20 * steps[dim]
        # Beside three others, or others that may be of any size, a dim is seldom so large.
        if len(task.dims) <= 2 and max(w.dims[dim] for w in stated) >= 512:
            large = {value % 128 // 4 for value in values if value > 128}
            assert len(large) >= (28 if name in FIRST else 19), dim


@pytest.mark.parametrize("seed", range(10))
def test_no_four_remainders_in_a_row_are_left_out(seed: int) -> None:
    task = load_task("transpose")
    for dim in task.dims:
        values = [w.dims[dim] for w in swept(task.naive, task, seed=seed)]
        met = {value % 128 for value in values if value > 128}
        assert all(any((r + i) % 128 in met for i in range(4)) for r in range(128)), dim


def test_dims_keep_what_stated_ones_have() -> None:
    """Groups that divide a size, squares, k at most n, and a fixed one."""
    stated = [
        Workload(dims=dims, suite="tests")
        for dims in (
            {"N": 8, "M": 8, "G": 2, "K": 1, "H": 3},
            {"N": 96, "M": 96, "G": 4, "K": 7, "H": 3},
            {"N": 512, "M": 512, "G": 4, "K": 512, "H": 3},
        )
    ]
    rng = np.random.default_rng(0)
    made = [*covering.swept_shapes(stated, rng, lambda _: True, count=40)]
    assert len(made) == 40
    for w in made:
        assert 8 <= w.dims["N"] == w.dims["M"] <= 512 and w.dims["N"] % 8 == 0
        assert w.dims["N"] % w.dims["G"] == 0 and w.dims["G"] % 2 == 0
        assert w.dims["K"] <= w.dims["N"] and w.dims["H"] == 3


def test_sizes_that_are_compiled_in_are_those_of_known_shapes() -> None:
    task = load_task("transpose")
    text = task.naive.replace("---*/", "specialize: [C]\n---*/")
    shapes = swept(text, task)
    known = {w.dims["C"] for suite in SUITES for w in task.workloads(suite, "cpu")}
    assert len(shapes) > SWEPT // 2
    assert len({w.dims["R"] for w in shapes}) > SWEPT // 4
    assert len({w.dims["C"] for w in shapes} & known) > 3
    assert swept(text.replace("[C]", "[R, C]"), task) == ()


def test_dynamic_lds_is_nothing_to_compile() -> None:
    task = load_task("softmax")
    text = task.naive.replace("args:", 'lds_bytes: "4 * C"\n    args:', 1)
    assert len(swept(text, task)) == SWEPT


def test_a_kernel_that_cannot_be_planned_there_is_told_nothing(tmp_path: Path) -> None:
    task = load_task(write_task(tmp_path / "a"))
    grid = kernel().replace(
        '"ceil_div(N, 64)"', '"ceil_div(N, 64) * (N % 128 < 36 or N % 128 > 39)"'
    )
    with pytest.raises(Rejected) as caught:
        swept(grid, task)
    assert caught.value.status is Status.WRONG
    assert "held-out shape, of which no more is told" in str(caught.value)


def test_where_the_seed_is_wrong_nobody_is_asked(tmp_path: Path, device: Device) -> None:
    seed = kernel(before="if (N % 3 == 1 && N < 4000 && N != 1 && N != 100) return;")
    task = load_task(write_task(tmp_path / "a", seed=seed))
    also = verdict(task, seed + "// again", device)
    assert also.passed, also.reason
    hole = verdict(task, kernel(before="if (N % 64 / 4 == 9 && N < 4000) return;"), device)
    assert hole.status is Status.WRONG


def test_where_the_reference_refuses_nobody_is_asked(tmp_path: Path, device: Device) -> None:
    folder = write_task(tmp_path / "a")
    text = (folder / "reference.py").read_text()
    refusing = '    if N % 2 and N not in (1, 5001):\n        raise ValueError("odd")\n    return'
    (folder / "reference.py").write_text(text.replace("    return", refusing))
    odd = kernel(before="if (N % 2 && N != 1 && N != 5001) return;")
    right = verdict(load_task(folder), odd, device)
    assert right.passed, right.reason


def test_a_seed_that_crashes_ends_the_sweep(tmp_path: Path, device: Device) -> None:
    """Constants and what is prepared from them are met, too."""
    seed = kernel(before="if (N > 2500 && N % 1000 && N != 5001) t[1 << 30] = 1;")
    task = load_task(write_task(tmp_path / "a", seed=seed))
    right = verdict(task, kernel(front=FRONT), device)
    assert right.passed, right.reason
