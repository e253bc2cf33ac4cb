"""The generator of inputs on a GPU draws what numpy's draws from the same key."""

import pytest

from tests.evaluators.hip import test_hip_double
from tests.evaluators.hip.draws_on_gpu import COUNTS, distributions

SCRIPT = "from tests.evaluators.hip import draws_on_gpu; draws_on_gpu.main()"
BACKENDS = [pytest.param("hip"), pytest.param("cuda", marks=pytest.mark.hardware)]


@pytest.mark.parametrize("gpu", BACKENDS, indirect=True)
def test_every_distribution_is_drawn_as_numpy_draws_it(gpu: str) -> None:
    said = test_hip_double.python(SCRIPT, gpu).splitlines()
    assert said == [str(len(list(distributions())) * len(COUNTS))]
