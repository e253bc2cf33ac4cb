"""Campaigns in one process."""

from collections.abc import Iterator

import pytest

from tests.engine.local_ray import local_ray


@pytest.fixture
def in_this_process() -> Iterator[None]:
    """Campaigns of this test start no Ray."""
    with local_ray():
        yield
