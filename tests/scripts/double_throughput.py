"""What bench_throughput.py compiles and measures with on the HIP runtime double."""

from dataclasses import replace
from pathlib import Path

from engine.dispatch.workbench import Workbench
from evaluators.measuring.policy import GPU_POLICY, TimingPolicy
from scripts import bench_throughput
from tests.engine.twin_workbench import TwinWorkbench

__all__ = ["bench_throughput", "make"]

QUICK = replace(GPU_POLICY, min_blocks=2, max_blocks=2, interval_us=200.0, max_copies=4)


def make(task: Path, name: str, policy: TimingPolicy | None) -> Workbench:
    return TwinWorkbench(task=str(task), backend=name, secret=7, policy=QUICK)
