"""Loads, stores and atomics on every kind of memory, one by one."""

import pytest

from tests.evaluators.hip.emulator import (
    atomic_cases,
    buffer_cases,
    flat_cases,
    lds_atomic_cases,
    lds_cases,
    memory_cases,
)
from tests.evaluators.hip.emulator.bench import Bench
from tests.evaluators.hip.emulator.case import Case, name_of
from tests.soaked import one_in

CASES = (
    *memory_cases.CASES,
    *buffer_cases.CASES,
    *flat_cases.CASES,
    *lds_cases.CASES,
    *lds_atomic_cases.CASES,
    *atomic_cases.CASES,
)


@pytest.mark.parametrize("one", one_in(3, CASES), ids=name_of)
def test_an_instruction_gives_what_the_guide_says(bench: Bench, one: Case) -> None:
    bench.check(one)
