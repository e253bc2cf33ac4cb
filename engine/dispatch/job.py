"""Kernels on their way through the dispatcher: what was asked for goes first at every stage."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

from engine.dispatch.setting import DispatchSetting
from engine.dispatch.workbench import Broken, Built
from engine.ending import CampaignFailed
from evaluators.evaluation import Evaluation, Status


@dataclass(slots=True)
class Job:
    """idle: nobody asked for it. admitted: counted among those compiled ahead. taken: a compile
    worker has it, or has had it."""

    order: int
    kernel_id: str
    source: str
    done: asyncio.Future[Evaluation]
    idle: bool = False
    built: Built | None = None
    built_at: float = 0.0  # monotonic seconds
    admitted: bool = False
    taken: bool = False
    measuring: bool = False
    judged: bool = False  # its verdict is on the way to the store, as asked for or not
    attempts: int = 0

    @property
    def turn(self) -> "Turn":
        return self.idle, self.order, self

    @property
    def waits(self) -> bool:
        """Whether neither a compile worker nor a device is at it."""
        return not self.taken or (self.built is not None and not self.measuring)


Turn = tuple[bool, int, Job]
"""What was asked for before what was not, each in the order of the asks."""


class Jobs:
    """Those not yet evaluated, by kernel id, and where they wait."""

    def __init__(self, changed: Callable[[], None]) -> None:
        """changed: told when an idle device may have work, or less of it waits."""
        self._changed = changed
        self._orders = count()
        self._by_id: dict[str, Job] = {}
        self._queue: asyncio.PriorityQueue[Turn] = asyncio.PriorityQueue()
        self._ready: asyncio.PriorityQueue[Turn] = asyncio.PriorityQueue()
        self._spare: list[Job] = []  # compiled, for devices that have nothing else to do

    def __iter__(self) -> Iterator[Job]:
        return iter(list(self._by_id.values()))

    def get(self, kernel_id: str) -> Job | None:
        return self._by_id.get(kernel_id)

    def add(self, kernel_id: str, source: str, *, idle: bool) -> None:
        done = asyncio.get_running_loop().create_future()
        job = Job(next(self._orders), kernel_id, source, done, idle=idle)
        self._by_id[kernel_id] = job
        self.queue(job)

    def ask(self, kernel_id: str, source: str) -> None:
        """Somebody asks for it; a mutation that was for idle time goes first from now on."""
        job = self._by_id.get(kernel_id)
        if job is None:
            self.add(kernel_id, source, idle=False)
            return
        job.idle = False
        if job in self._spare:
            self._spare.remove(job)
            self.ready(job)
        elif not job.taken:
            self.queue(job)

    def finish(self, job: Job, evaluation: Evaluation) -> None:
        """Its verdict is stored."""
        self._remove(job)
        if not job.done.done():
            job.done.set_result(evaluation)

    def drop(self, job: Job, error: BaseException) -> None:
        """There will be no verdict."""
        self._remove(job)
        if not job.done.done():
            job.done.set_exception(error)

    def _remove(self, job: Job) -> None:
        self._by_id.pop(job.kernel_id, None)
        self._changed()

    def queue(self, job: Job) -> None:
        """For a compile worker."""
        job.taken = False
        self._queue.put_nowait(job.turn)

    async def to_compile(self) -> Job:
        """The next; it may be done by now."""
        while True:
            *_, job = await self._queue.get()
            if not job.taken:  # else it was asked for meanwhile, and had a turn since
                job.taken = True
                return job

    def ready(self, job: Job) -> None:
        """For a device; it is compiled."""
        if job.idle:
            self._spare.append(job)
            self._changed()
        else:
            self._ready.put_nowait(job.turn)

    async def to_measure(self) -> Job:
        """The next that was asked for; it may be done by now."""
        *_, job = await self._ready.get()
        return job

    def spare(self) -> Job | None:
        """The next mutation for a device that is idle, where nothing else waits for one."""
        self._spare = [job for job in self._spare if not job.done.done()]
        return self._spare.pop(0) if self._spare and self._ready.empty() else None

    def waiting(self) -> bool:
        """Whether what was asked for waits for a compile worker or a device."""
        return any(job.waits and not job.idle for job in self._by_id.values())

    def count(self, *, idle: bool) -> int:
        return sum(job.idle is idle for job in self._by_id.values())


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
