"""Moves between lanes, parts of registers, scalar instructions and branches, one by one."""

import pytest

from tests.evaluators.hip.emulator import (
    control_cases,
    dpp_cases,
    lane_cases,
    mode_cases,
    scalar_cases,
    scalar_compare_cases,
    sdwa_cases,
)
from tests.evaluators.hip.emulator.bench import Bench
from tests.evaluators.hip.emulator.case import Case, name_of
from tests.soaked import one_in

CASES = (
    *dpp_cases.CASES,
    *lane_cases.CASES,
    *sdwa_cases.CASES,
    *scalar_cases.CASES,
    *scalar_compare_cases.CASES,
    *control_cases.CASES,
    *mode_cases.CASES,
)


@pytest.mark.parametrize("one", one_in(2, CASES), ids=name_of)
def test_an_instruction_gives_what_the_guide_says(bench: Bench, one: Case) -> None:
    bench.check(one)
