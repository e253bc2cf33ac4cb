"""What amdsmi tells of a GPU, where it is installed."""

from collections.abc import Callable

from evaluators.device import Telemetry
from evaluators.device_info import DeviceInfo
from evaluators.gpu.telemetry import nothing, readings

AMDSMI_FAILURES = (ImportError, OSError, KeyError, AttributeError)
"""What `import amdsmi` raises where ROCm's libamd_smi.so is missing, by its version."""
AMDSMI_TODO = "remove amdsmi, or install ROCm's own (pip install /opt/rocm/share/amd_smi)"


def telemetry(info: DeviceInfo) -> Telemetry:
    """Of the GPU at info.pci_address."""
    try:
        import amdsmi as smi
    except AMDSMI_FAILURES:
        return nothing
    failed = smi.AmdSmiException
    try:
        smi.amdsmi_init()
        found = smi.amdsmi_get_processor_handle_from_bdf(info.pci_address)
    except (OSError, failed):
        return nothing

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
    return readings(calls, failed)


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
