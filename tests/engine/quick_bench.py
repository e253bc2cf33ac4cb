"""A workbench that judges kernels by their id at once: an eighth of them does not compile."""

from dataclasses import dataclass

from engine.dispatch.workbench import Built
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Rejected, Status
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task_file import load_task
from scripts.bench_engine import InstantWorkbench


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickWorkbench(InstantWorkbench):
    def compile(self, source: str, info: DeviceInfo) -> Built | Evaluation:
        identity = kernel_id(source)
        naive = kernel_id(load_task("sgemm").naive)
        if int(identity[:2], 16) % 8 == 0 and identity != naive:
            reason = "line 14: use of undeclared identifier 'sum'"
            return self._failed(identity, info, Status.COMPILE_ERROR, reason)
        try:
            return InstantWorkbench.compile(self, source, info)
        except Rejected as rejected:
            return self._failed(identity, info, rejected.status, rejected.reason)

    def _failed(self, identity: str, info: DeviceInfo, status: Status, reason: str) -> Evaluation:
        return Evaluation(
            kernel_id=identity,
            task_hash=self.task_hash,
            device_class=info.device_class,
            status=status,
            reason=reason,
        )


def quick_workbench() -> QuickWorkbench:
    task = load_task("sgemm")
    labels = tuple(workload.label for workload in task.workloads("benchmarks", "cpu"))
    return QuickWorkbench(task_hash=task.hash, labels=labels, binary_bytes=100)
