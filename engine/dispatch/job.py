"""A kernel on its way through the dispatcher, and the verdict when it can't go on."""

import asyncio
from dataclasses import dataclass, field

from engine.dispatch.setting import DispatchSetting
from engine.dispatch.workbench import Broken, Built
from engine.ending import CampaignFailed
from evaluators.evaluation import Evaluation, Status


@dataclass(order=True, slots=True)
class Job:
    """Ordered as it was asked for. admitted: counted among those compiled ahead."""

    order: int
    kernel_id: str = field(compare=False)
    source: str = field(compare=False)
    done: asyncio.Future[Evaluation] = field(
        compare=False, default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    built: Built | None = field(compare=False, default=None)
    built_at: float = field(compare=False, default=0.0)  # monotonic seconds
    admitted: bool = field(compare=False, default=False)
    measuring: bool = field(compare=False, default=False)
    attempts: int = field(compare=False, default=0)


def crashed(kernel_id: str, setting: DispatchSetting, what: str, error: Broken) -> Evaluation:
    return Evaluation(
        kernel_id=kernel_id,
        task_hash=setting.task_hash,
        device_class=setting.device_class,
        status=Status.CRASHED,
        reason=f"{what} while they worked on this kernel: {error}",
    )


def unfit(evaluation: Evaluation) -> CampaignFailed:
    """The naive seed did not pass."""
    return CampaignFailed(
        f"the kernel {evaluation.kernel_id}, that others are to be compared with, did not pass "
        f"({evaluation.status}: {evaluation.reason}); mend the task's naive seed, or its tolerance"
    )
