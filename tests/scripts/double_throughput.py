"""What bench_throughput.py compiles and measures with on the HIP runtime double."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.dispatch.workbench import Workbench
from evaluators.measuring.policy import GPU_POLICY, TimingPolicy
from scripts import bench_throughput
from tests.engine.local_ray import local_ray
from tests.engine.twin_workbench import TwinWorkbench

QUICK = replace(GPU_POLICY, min_blocks=2, max_blocks=2, interval_us=200.0, max_copies=4)


def make(task: Path, name: str, policy: TimingPolicy | None) -> Workbench:
    return TwinWorkbench(task=str(task), backend=name, secret=7, policy=QUICK)


def main(arguments: Sequence[str]) -> int:
    """The script's, whose campaign beside the bare loop runs in this process."""
    plain = bench_throughput.floor

    def floor(*given: Any) -> dict[str, Any]:
        with local_ray():
            return plain(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench_throughput, "floor", floor)
        return bench_throughput.main(arguments, make=make)
