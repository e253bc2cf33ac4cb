"""Floating-point instructions of the vector ALU, one by one."""

import pytest

from tests.evaluators.hip.emulator import (
    convert_cases,
    f8_cases,
    float_cases,
    function_cases,
    further_cases,
    packed_cases,
)
from tests.evaluators.hip.emulator.bench import Bench
from tests.evaluators.hip.emulator.case import Case, name_of
from tests.soaked import one_in

CASES = (
    *float_cases.CASES,
    *convert_cases.CASES,
    *function_cases.CASES,
    *f8_cases.CASES,
    *further_cases.CASES,
    *packed_cases.CASES,
)


@pytest.mark.parametrize("one", one_in(2, CASES), ids=name_of)
def test_an_instruction_gives_what_the_guide_says(bench: Bench, one: Case) -> None:
    bench.check(one)
