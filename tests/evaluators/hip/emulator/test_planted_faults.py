"""Planted faults are caught in emulation whatever the order; their right twins pass."""

import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from evaluators.evaluation import Status
from evaluators.hip.emulator.device import EmulatedDevice, open_emulated
from evaluators.hip.hiprtc import HiprtcChild
from tests.evaluators.hip.emulator.planted_kernels import FAULTS, TWINS, Fault, compiled, outcome
from tests.evaluators.hip.emulator.planted_orders import AT_TIMES, ORDER_FAULTS, ORDER_TWINS
from tests.soaked import one_in

IN_ORDER = 0
SEEDS = (1, 2, 3, 4, 5)
DEADLINE_S = 0.3

EVERY_TWIN = {**TWINS, **ORDER_TWINS}
EVERY_FAULT = (*FAULTS, *ORDER_FAULTS)

Devices = Callable[[int], EmulatedDevice]


@pytest.fixture(scope="module")
def device(gfx942: HiprtcChild) -> Iterator[Devices]:
    """By order."""

    @cache
    def opened(order: int) -> EmulatedDevice:
        return open_emulated(0, order=order)

    yield opened
    for order in (IN_ORDER, *SEEDS):
        opened(order).close()


def skip_without_masks(child: HiprtcChild, name: str) -> None:
    if name == "shuffle_mask" and child.version.startswith("hiprtc 6."):
        pytest.skip("ROCm 6 has no __shfl_down_sync")


@pytest.mark.parametrize("order", one_in(2, [IN_ORDER, *SEEDS[:3]]))
@pytest.mark.parametrize("name", EVERY_TWIN)
def test_the_right_twin_passes(device: Devices, gfx942: HiprtcChild, name: str, order: int) -> None:
    skip_without_masks(gfx942, name)
    made = compiled(gfx942, name, 0)
    assert outcome(device(order), made, EVERY_TWIN[name]) == (Status.PASSED, "")


@pytest.mark.parametrize("order", one_in(2, [IN_ORDER, *SEEDS]))
@pytest.mark.parametrize("fault", EVERY_FAULT, ids=lambda fault: fault.name.replace(" ", "_"))
def test_the_fault_is_caught(
    device: Devices, gfx942: HiprtcChild, fault: Fault, order: int
) -> None:
    skip_without_masks(gfx942, fault.of)
    made = compiled(gfx942, fault.of, fault.planted)
    status, said = outcome(device(order), made, EVERY_TWIN[fault.of])
    assert status is fault.status, said
    assert re.search(fault.said, said), said
    assert "\n" not in said
    if "by `" in said and order:
        assert said.endswith(f" (order {order})")


@pytest.mark.parametrize(("name", "planted"), AT_TIMES)
def test_what_orders_decide_shows_in_some(gfx942: HiprtcChild, name: str, planted: int) -> None:
    made, twin = compiled(gfx942, name, planted), ORDER_TWINS[name]
    found = [outcome(open_emulated(0, order=order), made, twin)[0] for order in range(1, 21)]
    assert Status.WRONG in found


@pytest.mark.parametrize("order", [IN_ORDER, SEEDS[0]])
def test_a_deadline_is_met_and_the_device_lives_on(
    device: Devices, gfx942: HiprtcChild, order: int
) -> None:
    endless = compiled(gfx942, "endless_loop", 1)
    found = outcome(device(order), endless, TWINS["endless_loop"], deadline_s=DEADLINE_S)
    assert found == (Status.TIMEOUT, "the launches took longer than 0.3 s")
    made = compiled(gfx942, "block_sum", 0)
    assert outcome(device(order), made, TWINS["block_sum"]) == (Status.PASSED, "")


def test_nothing_is_kept_of_sessions_that_ended_with_a_fault(gfx942: HiprtcChild) -> None:
    """Or their memory stays, and kernels that come later may access it."""
    alone = open_emulated(0, order=IN_ORDER)
    for planted in (1, 0, 1):
        outcome(alone, compiled(gfx942, "transpose_tile", planted), TWINS["transpose_tile"])
        assert not alone._emulator._arrays
        assert not alone._emulator._modules
