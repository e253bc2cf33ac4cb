"""What a fault on an emulated device costs a campaign's measuring process: another right result."""

import re
from collections.abc import Iterator

import pytest

from evaluators.acceptance import faults
from evaluators.acceptance.trial import Setup, Trial
from evaluators.device_info import emulating
from evaluators.hip.emulator.device import EmulatedDevice
from evaluators.hip.hiprtc import HiprtcChild
from tests.soaked import one_in

SAID = {
    "illegal address": r"CRASHED \(the kernel writes 4 bytes at 0x\w+, where it has no memory, in ",
    "trap": r"CRASHED \(the kernel trapped \(s_trap 2\): an assertion or abort\(\), in ",
    "spinning beyond a deadline of 1 s": r"TIMEOUT \(the launches took longer than 1 s",
}


@pytest.fixture(scope="module", params=[pytest.param(0, marks=pytest.mark.soak), 7])
def setup(gfx942: HiprtcChild, request: pytest.FixtureRequest) -> Iterator[Setup]:
    """Emulated devices for this process and those it starts, by the order of their wavefronts."""
    with emulating(True, "hip", asked_by="this test", order=request.param):
        made = Setup("hip")
        assert isinstance(made.device, EmulatedDevice)
        assert made.device.order == request.param
        yield made


@pytest.mark.parametrize("trial", one_in(2, faults.trials()), ids=lambda trial: trial.name)
def test_the_next_kernel_is_right(setup: Setup, trial: Trial) -> None:
    said = trial.run(setup)
    assert re.match(SAID[trial.name], said), said
    assert said.endswith(" s later the next kernel was found right")
