"""Readings of a GPU where there are any, and nothing but an empty answer elsewhere."""

import sys
from types import SimpleNamespace

import pytest

from evaluators.device import backend
from evaluators.device_info import DeviceInfo

FIRST, FOURTH = "0000:05:00.0", "0000:c1:00.0"


def info(backend: str, pci_address: str) -> DeviceInfo:
    return DeviceInfo(
        backend=backend,
        name="a GPU",
        arch="any",
        engine=backend,
        compiler="any",
        wavefront=64,
        lds_bytes=1,
        max_threads=1,
        cache_bytes=1,
        pci_address=pci_address,
    )


def read(device: DeviceInfo) -> dict[str, float]:
    return dict(backend(device.backend).telemetry(device)())


class NVMLError(Exception):
    pass


def refuse(*_: object) -> float:
    raise NVMLError


@pytest.mark.parametrize("backend", ["cpu", "cuda", "hip"])
def test_absent_without_an_error(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setitem(sys.modules, "amdsmi", None)
    assert read(info(backend, FIRST)) == {}


def nvml(**changed: object) -> SimpleNamespace:
    """As nvidia-ml-py looks from here, for a board that tells all but its memory clock."""
    calls = {
        "NVMLError": NVMLError,
        "nvmlInit": lambda: None,
        "nvmlDeviceGetHandleByPciBusId": lambda address: address.decode(),
        "nvmlDeviceGetClockInfo": lambda found, kind: 1980 if kind == "sm" else refuse(),
        "nvmlDeviceGetPowerUsage": lambda found: {FIRST: 1000, FOURTH: 512_000}[found],
        "nvmlDeviceGetTemperature": lambda found, kind: 41,
        "NVML_CLOCK_SM": "sm",
        "NVML_CLOCK_MEM": "memory",
        "NVML_TEMPERATURE_GPU": 0,
    }
    return SimpleNamespace(**{**calls, **changed})


@pytest.mark.parametrize(("address", "power_w"), [(FIRST, 1.0), (FOURTH, 512.0)])
def test_the_gpu_at_the_address_is_read(
    address: str, power_w: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    assert read(info("cuda", address)) == {
        "sm_mhz": 1980.0,
        "power_w": power_w,
        "temperature_c": 41.0,
    }


@pytest.mark.parametrize("call", ["nvmlInit", "nvmlDeviceGetHandleByPciBusId"])
def test_a_driver_that_refuses_is_no_error(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml(**{call: refuse}))
    assert read(info("cuda", FIRST)) == {}


class AmdSmiException(Exception):
    pass


def amdsmi(*addresses: str) -> SimpleNamespace:
    """As amdsmi 7.0.2 looks from here, with GPUs in an order of its own; one tells N/A."""

    def handle(address: str) -> str:
        if address not in addresses:
            raise AmdSmiException
        return address

    watts: dict[str, dict[str, object]] = {
        FIRST: {"current_socket_power": 111},
        FOURTH: {"current_socket_power": "N/A"},
    }
    return SimpleNamespace(
        AmdSmiException=AmdSmiException,
        AmdSmiClkType=SimpleNamespace(GFX="GFX", MEM="MEM"),
        AmdSmiTemperatureType=SimpleNamespace(HOTSPOT=1),
        AmdSmiTemperatureMetric=SimpleNamespace(CURRENT=0),
        amdsmi_init=lambda: None,
        amdsmi_get_processor_handle_from_bdf=handle,
        amdsmi_get_clock_info=lambda found, kind: {"clk": {"GFX": 2100, "MEM": "N/A"}[kind]},
        amdsmi_get_power_info=lambda found: {"average_socket_power": 500, **watts[found]},
        amdsmi_get_temp_metric=lambda found, kind, metric: 52,
    )


@pytest.mark.parametrize(("address", "power_w"), [(FIRST, 111.0), (FOURTH, 500.0)])
@pytest.mark.parametrize("order", [(FIRST, FOURTH), (FOURTH, FIRST)])
def test_an_amd_gpu_is_found_by_its_address_in_whatever_order_amdsmi_counts(
    address: str, power_w: float, order: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", amdsmi(*order))
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "1")
    assert read(info("hip", address)) == {
        "sm_mhz": 2100.0,
        "power_w": power_w,
        "temperature_c": 52.0,
    }


def test_an_amd_gpu_that_amdsmi_does_not_know_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", amdsmi(FOURTH))
    assert read(info("hip", FIRST)) == {}
