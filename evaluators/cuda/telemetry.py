"""What nvidia-ml-py tells of a GPU, where it is installed."""

from collections.abc import Callable

from evaluators.device import Telemetry
from evaluators.device_info import DeviceInfo
from evaluators.gpu.telemetry import nothing, readings


def telemetry(info: DeviceInfo) -> Telemetry:
    """Of the GPU at info.pci_address."""
    try:
        import pynvml as nvml
    except ImportError:
        return nothing
    failed = nvml.NVMLError
    try:
        nvml.nvmlInit()
        found = nvml.nvmlDeviceGetHandleByPciBusId(info.pci_address.encode())
    except (OSError, failed):
        return nothing
    calls: dict[str, Callable[[], float]] = {
        "sm_mhz": lambda: nvml.nvmlDeviceGetClockInfo(found, nvml.NVML_CLOCK_SM),
        "memory_mhz": lambda: nvml.nvmlDeviceGetClockInfo(found, nvml.NVML_CLOCK_MEM),
        "power_w": lambda: nvml.nvmlDeviceGetPowerUsage(found) / 1e3,
        "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(found, nvml.NVML_TEMPERATURE_GPU),
    }
    return readings(calls, failed)
