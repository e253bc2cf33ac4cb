"""Where a test file's instructions run."""

from collections.abc import Iterator

import pytest

from evaluators.hip.hiprtc import HiprtcChild
from tests.evaluators.hip.emulator.bench import Bench


@pytest.fixture(scope="module")
def bench(request: pytest.FixtureRequest, gfx942: HiprtcChild) -> Iterator[Bench]:
    """Of the module's CASES."""
    with Bench(gfx942, request.module.CASES) as made:
        yield made
