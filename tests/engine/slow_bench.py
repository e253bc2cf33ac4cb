"""A workbench for GPUs that are none: a kernel takes a while, and its id decides how fast it is."""

import os
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace

from engine.dispatch.workbench import Built
from evaluators.device import Compiled
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Rejected, failed
from evaluators.kernel.source import KernelSource, kernel_id
from evaluators.measuring.policy import Anchor
from evaluators.processes.child_evaluator import RemoteDevice
from scripts.bench_engine import INFO, InstantEvaluator, InstantWorkbench
from tests.engine.quick_bench import quick_workbench

CLASS_VARIABLE = "KERNEL_SCIENTIST_TEST_DEVICE"
"""On a node whose devices are of another name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowWorkbench(InstantWorkbench):
    """seconds: of a device, for each kernel; compile_s: of a core."""

    seconds: float = 0.1
    compile_s: float = 0.0

    def compile(self, source: str, info: DeviceInfo) -> Built | Evaluation:
        time.sleep(self.compile_s)
        try:
            return InstantWorkbench.compile(self, source, info)
        except Rejected as rejected:
            return failed(kernel_id(source), self.task_hash, info.device_class, rejected)

    def open(self, device: int) -> AbstractContextManager[InstantEvaluator]:
        name = os.environ.get(CLASS_VARIABLE, "a GPU")
        info = replace(INFO, backend="hip", name=name, engine="hip", judges_on_device=True)
        return nullcontext(SlowEvaluator(workbench=self, device=RemoteDevice(info)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowEvaluator(InstantEvaluator):
    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation:
        assert isinstance(self.workbench, SlowWorkbench)
        time.sleep(self.workbench.seconds)
        made = InstantEvaluator.measure(self, kernel, compiled, anchor, best)
        return replace(made, seconds={**made.seconds, "device": self.workbench.seconds})


def slow_workbench(seconds: float = 0.1, compile_s: float = 0.0) -> SlowWorkbench:
    quick = quick_workbench()
    values = {one.name: getattr(quick, one.name) for one in fields(quick)}
    return SlowWorkbench(**values, seconds=seconds, compile_s=compile_s)
