"""A GPU's clocks, power and temperature by nvidia-ml-py or amdsmi; nothing where they are not."""

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Read = Callable[[], Mapping[str, float]]
VISIBLE = {"cuda": "CUDA_VISIBLE_DEVICES", "hip": "HIP_VISIBLE_DEVICES"}


class Telemetry:
    """Of the first device that this process may use.

    Readings: sm_mhz and memory_mhz, power_w, temperature_c, as far as the driver tells them.
    """

    def __init__(self, backend: str) -> None:
        name = os.environ.get(VISIBLE.get(backend, ""), "").split(",")[0].strip() or "0"
        self._read: Read = {"cuda": _nvidia, "hip": _amd}.get(backend, _none)(name)

    def read(self) -> dict[str, float]:
        return dict(self._read())


def _none(name: str) -> Read:
    return dict


def _nvidia(name: str) -> Read:
    try:
        nvml = import_module("pynvml")
        nvml.nvmlInit()
    except ImportError:
        return dict
    except OSError:
        return dict
    except _error_of("pynvml", "NVMLError"):
        return dict
    failed = nvml.NVMLError
    try:
        found = (
            nvml.nvmlDeviceGetHandleByIndex(int(name))
            if name.isdigit()
            else nvml.nvmlDeviceGetHandleByUUID(name)
        )
    except failed:
        return dict
    calls: dict[str, Callable[[], float]] = {
        "sm_mhz": lambda: nvml.nvmlDeviceGetClockInfo(found, nvml.NVML_CLOCK_SM),
        "memory_mhz": lambda: nvml.nvmlDeviceGetClockInfo(found, nvml.NVML_CLOCK_MEM),
        "power_w": lambda: nvml.nvmlDeviceGetPowerUsage(found) / 1e3,
        "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(found, nvml.NVML_TEMPERATURE_GPU),
    }
    return lambda: _told(calls, failed)


def _amd(name: str) -> Read:
    try:
        smi = import_module("amdsmi")
        smi.amdsmi_init()
        found = smi.amdsmi_get_processor_handles()[int(name)]
    except (ImportError, OSError, KeyError, AttributeError, IndexError, ValueError):
        return dict
    except _error_of("amdsmi", "AmdSmiException"):
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
    return lambda: _told(calls, smi.AmdSmiException)


def _told(calls: Mapping[str, Callable[[], float]], failed: type[Exception]) -> dict[str, float]:
    """What the driver tells; readings that a board does not have are left out."""
    told = {}
    for name, call in calls.items():
        try:
            told[name] = float(call())
        except (failed, KeyError, ValueError, TypeError):
            continue
    return told


def _error_of(module: str, name: str) -> Any:
    """A binding's own exception, or nothing to catch where there is no binding."""
    try:
        return getattr(import_module(module), name)
    except (ImportError, OSError, KeyError, AttributeError):
        return ()
