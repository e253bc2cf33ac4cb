"""The device contract over every backend that is here; what must fail when it is broken."""

import os
from collections.abc import Iterator

import numpy as np
import pytest

from evaluators.acceptance.contract import CONTRACT, Check
from evaluators.acceptance.trial import Broken, Skipped, expect, expect_rejected
from evaluators.device import Backend, Compiler, Device, backend, register
from evaluators.device_info import FURTHER_BACKENDS, emulating
from evaluators.evaluation import Rejected, Status
from tests.evaluators import again
from tests.hip_double.twins import with_twins

EMULATED = "emulated"
ORDER = 5
"""Of emulated wavefronts: a seed of their random turns."""
CHOSEN = os.environ.get("KERNEL_SCIENTIST_CONTRACT", f"cpu cuda hip {EMULATED} again").split()


@pytest.fixture(scope="module", params=CHOSEN)
def module(request: pytest.FixtureRequest) -> Iterator[Backend]:
    before = os.environ.get(FURTHER_BACKENDS, "")
    register(again.NAME, again.MODULE)
    is_emulated = request.param == EMULATED
    found = backend("hip" if is_emulated else request.param)
    with emulating(is_emulated, "hip", asked_by=EMULATED, order=ORDER):
        if found.device_count() == 0:
            pytest.skip(f"no {request.param} device here")
        yield found
    os.environ[FURTHER_BACKENDS] = before


@pytest.fixture(scope="module")
def compiler(module: Backend) -> Compiler:
    return with_twins(module.compiler())


@pytest.fixture(scope="module")
def device(module: Backend) -> Device:
    return module.open_device(0)


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_contract(check: Check, device: Device, compiler: Compiler) -> None:
    try:
        check(device, compiler)
    except Skipped as skipped:
        pytest.skip(str(skipped))


def test_peaks_of_the_device_are_known(device: Device) -> None:
    info = device.info
    assert info.peak_flops["float32"] > 1e9
    *near, (last, _, dram) = info.levels
    assert last == "dram" and all(rate >= dram > 1e8 for *_, rate in near)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [([1, 2], [1, 3]), (np.float32(np.nan), np.nan), ([0], [0, 0]), (3, 4)],
)
def test_a_check_sees_what_differs(found: object, wanted: object) -> None:
    with pytest.raises(Broken, match=r"what it is: .* where .* should be"):
        expect(found, wanted, "what it is")


@pytest.mark.parametrize(
    ("status", "reason", "said"),
    [
        (Status.CRASHED, "scale: out of memory", "CRASHED (scale: out of memory) where"),
        (Status.LAUNCH_ERROR, "scale: too many", "'out of memory' not in the reason"),
        (Status.LAUNCH_ERROR, "out of memory\nin scale", "several lines"),
    ],
)
def test_a_check_sees_a_wrong_refusal(status: Status, reason: str, said: str) -> None:
    with (
        pytest.raises(Broken) as caught,
        expect_rejected(Status.LAUNCH_ERROR, "out of memory"),
    ):
        raise Rejected(status, reason)
    assert said in str(caught.value)


def test_a_check_sees_that_nothing_was_refused() -> None:
    with (
        pytest.raises(Broken, match="nothing was refused"),
        expect_rejected(Status.LAUNCH_ERROR),
    ):
        pass
