"""Which unusual values a kernel that is ahead in the search is tried on."""

from collections import Counter
from typing import Any, cast

import numpy as np
import pytest

from evaluators.checks import values
from evaluators.checks.inputs import Draw
from evaluators.checks.values import UnusualDraws
from evaluators.device import backend
from evaluators.evaluate import compile_kernel
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.further_checks import QUICK_BYTES, FurtherChecks
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task_file import load_task


class Costs:
    """In place of UnusualDraws: what making draws of each class costs; nothing is ever made."""

    def __init__(self, costs: dict[str, int]) -> None:
        self.costs = costs
        self.asked: list[str] = []

    def spread(self, workloads: list[Workload]) -> list[tuple[Workload, str]]:
        return [(workloads[0], values) for values in self.costs]

    def cost_bytes(self, workload: Workload, values: str) -> int:
        return self.costs[values]

    def draws(self, workload: Workload, classes: list[str]) -> tuple[()]:
        self.asked += classes
        return ()


class Nothing:
    """In place of Rounding."""

    def calibrate(self, *_: object) -> None: ...


SMALL = QUICK_BYTES // 8


@pytest.mark.parametrize(
    ("costs", "most", "tried"),
    [
        ({"spikes": 9 * QUICK_BYTES, "large": SMALL, "nan": SMALL}, 2, ["large", "nan"]),
        ({"spikes": 9 * QUICK_BYTES, "large": 4 * QUICK_BYTES}, 2, ["large"]),
        ({"spikes": 9 * QUICK_BYTES, "large": SMALL}, None, ["spikes", "large"]),
        ({}, 2, []),
    ],
    ids=["those that are quick", "the quickest of slow ones", "in a contest any", "none"],
)
def test_a_search_waits_for_no_slow_pair_of_shape_and_class(
    costs: dict[str, int], most: int | None, tried: list[str]
) -> None:
    task, unusual = load_task("sum_reduction"), Costs(costs)
    checks = FurtherChecks(
        task,
        cast(Any, None),
        cast(Any, None),
        cast(Any, unusual),
        cast(Any, Nothing()),
        TimingPolicy(),
        np.random.default_rng(0),
    )
    kernel = cast(Any, type("Kernel", (), {"id": "k"}))
    assert (
        checks.unusual_values(kernel, cast(Any, None), task.workloads("tests", "cpu"), most=most)
        == {}
    )
    assert unusual.asked == tried


def test_no_large_draw_is_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little room there is for those that were made."""
    monkeypatch.setattr(values, "KEPT_BYTES", 1)
    made: Counter[tuple[str, str]] = Counter()

    def counted(self: UnusualDraws, workload: Workload, values: str) -> tuple[Draw, ...]:
        made[workload.label, values] += 1
        return make(self, workload, values)

    make = UnusualDraws._made
    monkeypatch.setattr(UnusualDraws, "_made", counted)
    task, device = load_task("softmax"), backend("cpu").open_device(0)
    try:
        kernel, compiled = compile_kernel(
            task.seeds["naive"], task, backend("cpu").compiler(), "cpu"
        )
        correctness = Evaluator(task=task, device=device, secret=3).correctness
        shapes = task.workloads("benchmarks", "cpu")
        correctness._further.unusual_values(kernel, compiled, shapes, each=True)
    finally:
        device.close()
    assert len(made) >= len(task.unusual())
    assert set(made.values()) == {1}
