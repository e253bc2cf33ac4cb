"""The CPU engine as a backend that shows no races, in a process of its own: as a GPU does."""

from evaluators.device_info import DeviceInfo
from evaluators.kernel.source import KernelSource
from tests.evaluators import again
from tests.evaluators.again import compiler, device_count, open_device, telemetry, warm

__all__ = ["compiler", "device_count", "open_device", "oracle", "telemetry", "warm"]

NAME = again.NAME
MODULE = __name__

private_process = True


def oracle(kernel: KernelSource, info: DeviceInfo, *, sampled: bool = False) -> None:
    """None."""
