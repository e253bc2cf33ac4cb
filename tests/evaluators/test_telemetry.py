"""Readings of a GPU where there are any, and nothing but an empty answer elsewhere."""

import sys
from types import SimpleNamespace

import pytest

from evaluators.telemetry import Telemetry


class NVMLError(Exception):
    pass


def refuse(*_: object) -> float:
    raise NVMLError


@pytest.mark.parametrize("backend", ["cpu", "cuda", "hip"])
def test_absent_without_an_error(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setitem(sys.modules, "amdsmi", None)
    assert Telemetry(backend).read() == {}


def nvml(**changed: object) -> SimpleNamespace:
    """As nvidia-ml-py looks from here, for a board that tells all but its memory clock."""
    calls = {
        "NVMLError": NVMLError,
        "nvmlInit": lambda: None,
        "nvmlDeviceGetHandleByIndex": lambda index: f"#{index}",
        "nvmlDeviceGetHandleByUUID": lambda name: name,
        "nvmlDeviceGetClockInfo": lambda found, kind: 1980 if kind == "sm" else refuse(),
        "nvmlDeviceGetPowerUsage": lambda found: {"#0": 1.0, "#3": 512_000}.get(found, 2000),
        "nvmlDeviceGetTemperature": lambda found, kind: 41,
        "NVML_CLOCK_SM": "sm",
        "NVML_CLOCK_MEM": "memory",
        "NVML_TEMPERATURE_GPU": 0,
    }
    return SimpleNamespace(**{**calls, **changed})


@pytest.mark.parametrize(("shown", "power_w"), [("3,1", 512.0), ("GPU-77", 2.0), ("", 0.001)])
def test_the_visible_gpu_is_read(
    shown: str, power_w: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    assert Telemetry("cuda").read() == {
        "sm_mhz": 1980.0,
        "power_w": power_w,
        "temperature_c": 41.0,
    }


@pytest.mark.parametrize("call", ["nvmlInit", "nvmlDeviceGetHandleByIndex"])
def test_a_driver_that_refuses_is_no_error(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml(**{call: refuse}))
    assert Telemetry("cuda").read() == {}
