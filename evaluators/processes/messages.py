"""What the measuring process and its parent say to each other."""

from dataclasses import dataclass
from typing import Any

from evaluators.checks.gpu_kernels import Trusted
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """Which device the child shall open."""

    backend: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the child's Evaluator is made of."""

    task: Task
    secret: int
    policy: TimingPolicy | None
    trusted: Trusted | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Warm:
    """What a process without a device may do until it is needed: load what takes time.

    Not answered.
    """

    backend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A method of Evaluator, and its arguments."""

    method: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What is going on now: a kernel for at most so long, or, without one, work on the host.

    entries: what the kernel launches.
    """

    kernel_id: str = ""
    deadline_s: float = 0.0
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """lost: the device's context met a fault; this process can't go on."""

    value: Any = None
    error: Exception | None = None
    lost: bool = False
