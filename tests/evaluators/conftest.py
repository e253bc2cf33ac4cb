"""What several tests of the evaluators share: AMD's compiler for gfx942."""

import os
from collections.abc import Iterator

import pytest

from evaluators.device import BackendMissing
from evaluators.hiprtc import HiprtcChild


@pytest.fixture(scope="session")
def gfx942() -> Iterator[HiprtcChild]:
    """Real hiprtc. Where it is missing: a failure in continuous integration, else a skip."""
    try:
        child = HiprtcChild()
        version = child.version
    except BackendMissing as missing:
        if os.environ.get("CI"):
            pytest.fail(f"nothing can be compiled for gfx942: {missing}")
        pytest.skip(str(missing))
    assert version.startswith("hiprtc ")
    with child:
        yield child
