"""A GPU's clocks, power and temperature by nvidia-ml-py or amdsmi; nothing where they are not."""

from collections.abc import Callable, Mapping

from evaluators.device_info import DeviceInfo

Read = Callable[[], Mapping[str, float]]
AMDSMI_FAILURES = (ImportError, OSError, KeyError, AttributeError)
"""What `import amdsmi` raises where ROCm's libamd_smi.so is missing, by its version."""
AMDSMI_TODO = "remove amdsmi, or install ROCm's own (pip install /opt/rocm/share/amd_smi)"


class Telemetry:
    """Of one GPU, found by its PCI address: an index counts differently under every variable
    that hides GPUs, and vendors' libraries heed none of them.

    Readings: sm_mhz and memory_mhz, power_w, temperature_c, as far as the driver tells them.
    """

    def __init__(self, info: DeviceInfo) -> None:
        find = {"cuda": _nvidia, "hip": _amd}.get(info.backend, _none)
        self._read: Read = find(info.pci_address)

    def read(self) -> dict[str, float]:
        return dict(self._read())


def _none(pci_address: str) -> Read:
    return dict


def _nvidia(pci_address: str) -> Read:
    try:
        import pynvml as nvml
    except ImportError:
        return dict
    failed = nvml.NVMLError
    try:
        nvml.nvmlInit()
        found = nvml.nvmlDeviceGetHandleByPciBusId(pci_address.encode())
    except (OSError, failed):
        return dict
    calls: dict[str, Callable[[], float]] = {
        "sm_mhz": lambda: nvml.nvmlDeviceGetClockInfo(found, nvml.NVML_CLOCK_SM),
        "memory_mhz": lambda: nvml.nvmlDeviceGetClockInfo(found, nvml.NVML_CLOCK_MEM),
        "power_w": lambda: nvml.nvmlDeviceGetPowerUsage(found) / 1e3,
        "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(found, nvml.NVML_TEMPERATURE_GPU),
    }
    return lambda: _told(calls, failed)


def _amd(pci_address: str) -> Read:
    try:
        import amdsmi as smi
    except AMDSMI_FAILURES:
        return dict
    failed = smi.AmdSmiException
    try:
        smi.amdsmi_init()
        found = smi.amdsmi_get_processor_handle_from_bdf(pci_address)
    except (OSError, failed):
        return dict

    def clock(kind: str) -> float:
        return float(smi.amdsmi_get_clock_info(found, getattr(smi.AmdSmiClkType, kind))["clk"])

    def power() -> float:
        told = smi.amdsmi_get_power_info(found)
        socket = told.get("current_socket_power")
        return float(socket if isinstance(socket, int | float) else told["average_socket_power"])

    def temperature() -> float:
        kind, metric = smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT
        return float(smi.amdsmi_get_temp_metric(found, kind, metric))

    calls: dict[str, Callable[[], float]] = {
        "sm_mhz": lambda: clock("GFX"),
        "memory_mhz": lambda: clock("MEM"),
        "power_w": power,
        "temperature_c": temperature,
    }
    return lambda: _told(calls, failed)


def _told(calls: Mapping[str, Callable[[], float]], failed: type[Exception]) -> dict[str, float]:
    """What the driver tells; readings that a board does not have are left out."""
    told = {}
    for name, call in calls.items():
        try:
            told[name] = float(call())
        except (failed, KeyError, ValueError, TypeError):
            continue
    return told


def broken_amdsmi() -> str:
    """Why the amdsmi that is installed can't be imported, in one line; "" when it can, or is not.

    Ray imports it while it is imported itself, and dies with it (ray 2.60, amd_gpu.py).
    """
    try:
        import amdsmi  # noqa: F401
    except AMDSMI_FAILURES as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "amdsmi":
            return ""
        return " ".join(f"{type(error).__name__}: {error}".split())
    return ""
