"""Profiles of elites as a campaign's log keeps them: the events, and what may be profiled."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiled:
    """A vendor's profiler looked at a kernel that had become the best.

    advice: its sentences; empty where there is no profile. reason: one sentence on why there is
    none, or on what it could not count.
    device_s: how long the device was held.
    """

    kind: ClassVar[str] = "profiled"
    session: int
    kernel_id: str
    where: str
    advice: tuple[str, ...] = ()
    reason: str = ""
    device_s: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.session}/{self.kernel_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """An island heard of a kernel's profile: what its later cycles ask shows it."""

    kind: ClassVar[str] = "learned"
    island: int
    kernel_id: str

    @property
    def key(self) -> str:
        return f"i{self.island}/{self.kernel_id}"


ProfileEvent = Profiled | Learned
