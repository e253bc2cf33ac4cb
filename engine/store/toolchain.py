"""What a campaign's times were made with: harness and compiler, as each session stores them."""

from dataclasses import dataclass

from engine.store.kinds.sessions import SessionStarted
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import HARNESS_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """Times made with different ones are not compared. harness: evaluators' HARNESS_VERSION."""

    harness: str
    compiler: str

    def __str__(self) -> str:
        return f"{self.compiler} (harness {self.harness})"


def toolchain_here(info: DeviceInfo) -> Toolchain:
    """info: of the devices that measure."""
    return Toolchain(harness=HARNESS_VERSION, compiler=info.compiler)


def toolchain_of(started: SessionStarted) -> Toolchain:
    """As a session stored it; before that was done, the compiler ended the device's class."""
    compiler = started.compiler or started.device_class.rpartition("/")[2]
    return Toolchain(harness=started.harness, compiler=compiler)


def device_class_of(started: SessionStarted) -> str:
    """Without the compiler, which early sessions stored as its end."""
    if started.compiler:
        return started.device_class
    return started.device_class.rpartition("/")[0]
