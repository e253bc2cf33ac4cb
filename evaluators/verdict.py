"""What is said of a kernel that was not timed: failed() and the Verdict on a suite of shapes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluators.device import DeviceInfo
from evaluators.evaluation import Evaluation, Rejected, Status
from evaluators.tasks.task import Task


def failed(
    kernel_id: str,
    task: Task,
    device_class: str,
    rejected: Rejected,
    *,
    info: DeviceInfo | None = None,
    seconds: Mapping[str, float] | None = None,
) -> Evaluation:
    """A rejection as a value."""
    return Evaluation(
        kernel_id=kernel_id,
        task_hash=task.hash,
        device_class=device_class,
        status=rejected.status,
        reason=rejected.reason,
        log=rejected.log,
        seconds=dict(seconds or {}),
        device=info.name if info else "",
        engine=info.engine if info else "",
        compiler=info.compiler if info else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a kernel is right on a suite of shapes. errors: as in Evaluation."""

    status: Status
    reason: str = ""
    log: str = ""
    errors: Mapping[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.status is Status.PASSED
