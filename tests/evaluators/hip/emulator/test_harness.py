"""The harness's own kernels, as MI300's machine code: they draw, compare and judge as the host."""

import json
import os

import pytest

from evaluators.device_info import EMULATE
from evaluators.hip.hiprtc import HiprtcChild
from tests.evaluators.hip import on_double, test_hip_double
from tests.evaluators.hip.draws_on_gpu import COUNTS, distributions

DRAWS = "from tests.evaluators.hip import draws_on_gpu; draws_on_gpu.main()"
JUDGE = "from tests.evaluators.hip import on_double; on_double.main()"


@pytest.fixture
def emulated(gfx942: HiprtcChild, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, EMULATE, "1")


@pytest.mark.soak
def test_every_distribution_is_drawn_as_numpy_draws_it(emulated: None) -> None:
    said = test_hip_double.python(DRAWS, "hip").splitlines()
    assert said == [str(len(list(distributions())) * len(COUNTS))]


@pytest.mark.soak
def test_the_device_compares_as_numpy_does(emulated: None) -> None:
    found = json.loads(test_hip_double.python(JUDGE, "comparisons", "-").splitlines()[-1])
    assert len(found) == 2 * 4 * len(on_double.VALUES)
    for name, got, wanted in found:
        assert got == wanted, name


def test_a_reference_on_the_device_judges(emulated: None) -> None:
    said = test_hip_double.python(JUDGE, "references", "-", "sum_reduction")
    errors = json.loads(said.splitlines()[-1])["sum_reduction"]
    assert len(errors) >= 3
    assert all(0.0 <= fraction < 1.0 for fraction in errors.values())
