"""`evaluate` judges on every shape: a task's held_out, and ragged ones where it has none."""

from pathlib import Path

import pytest

from evaluators.cpu.device import device_count
from evaluators.evaluate import TimingPolicy, evaluate_file
from evaluators.evaluation import Status
from tests.evaluators.small_task import kernel, write_task

pytestmark = pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")

QUICK = TimingPolicy(budget_s=0.3, interval_us=1000.0, link_budget_s=0.2, deadline_slack_s=1.0)

WRONG_BEYOND = {
    "an early return": "if (N > 6000) return;",
    "a size of its own": "if (N != 1 && N != 100 && N != 3000 && N != 5001 && i % 64 == 5) i = 0;",
}
"""Right on every test and benchmark shape of the small task."""


@pytest.mark.parametrize("name", WRONG_BEYOND)
@pytest.mark.parametrize("stated", [True, False])
def test_a_kernel_for_the_benchmarks_alone_does_not_pass(
    tmp_path: Path, name: str, stated: bool
) -> None:
    task = write_task(tmp_path / "small")
    text = (task / "task.yaml").read_text()
    if not stated:
        (task / "task.yaml").write_text(text.replace("held_out: [{N: 7000}]\n", ""))
    file = tmp_path / "kernel.hip"
    # Ragged shapes that are derived are near the benchmarks', so that both kernels meet them.
    before = WRONG_BEYOND[name].replace("N > 6000", "N > 6000 || (N > 3000 && N != 5001)")
    file.write_text(kernel(before=before))
    evaluation = evaluate_file(file, task, "cpu", policy=QUICK, seconds=0.1)
    assert evaluation.status is Status.WRONG
    assert "fails on a held-out shape" in evaluation.reason
    assert "7000" not in evaluation.reason and " on N=" not in evaluation.reason
