"""The campaign's workbench for the HIP runtime double: kernels come with their cpu twins."""

from dataclasses import dataclass, replace
from functools import cache

from engine.config import CampaignConfig
from engine.dispatch.workbench import BackendWorkbench, Built
from evaluators.device import Compiler
from evaluators.device_info import DeviceInfo
from evaluators.evaluate import compile_kernel, failed
from evaluators.evaluation import Evaluation, Rejected
from evaluators.hip import device as hip
from evaluators.kernel.source import kernel_id
from evaluators.measuring.policy import GPU_POLICY
from evaluators.probes.probe import Answer, BuiltProbe, compile_probe
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.tasks.task_file import load_task
from tests.hip_double.twins import with_twins


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinWorkbench(BackendWorkbench):
    def compile(self, source: str, info: DeviceInfo) -> Built | Evaluation:
        task = load_task(self.task)
        try:
            kernel, compiled = compile_kernel(source, task, _compiler(), "hip")
        except Rejected as rejected:
            return failed(kernel_id(source), task.hash, info.device_class, rejected)
        return Built(kernel=kernel, compiled=compiled)

    def compile_probe(self, text: str, info: DeviceInfo) -> BuiltProbe | Answer:
        try:
            return compile_probe(text, _compiler(), info)
        except Rejected as rejected:
            return Answer.of_rejected(text, rejected)

    def open(self, device: int) -> ChildEvaluator:
        return ChildEvaluator(
            task=load_task(self.task),
            backend_name="hip",
            index=device,
            secret=self.secret,
            policy=self.policy,
            compiler=_compiler(),
        )


def twin_of(config: CampaignConfig) -> TwinWorkbench:
    """Of a campaign with a task of one's own, timed in no time."""
    policy = replace(GPU_POLICY, min_blocks=2, max_blocks=2, interval_us=200.0, max_copies=4)
    return TwinWorkbench(task=config.task, backend="hip", secret=7, policy=policy)


@cache
def _compiler() -> Compiler:
    return with_twins(hip.compiler())
