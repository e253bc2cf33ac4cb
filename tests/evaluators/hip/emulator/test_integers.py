"""Integer instructions of the vector ALU and comparisons, one by one."""

import pytest

from tests.evaluators.hip.emulator import compare_cases, half_cases, integer_cases
from tests.evaluators.hip.emulator.bench import Bench
from tests.evaluators.hip.emulator.case import Case, name_of
from tests.soaked import one_in

CASES = (*integer_cases.CASES, *half_cases.CASES, *compare_cases.CASES)


@pytest.mark.parametrize("one", one_in(2, CASES), ids=name_of)
def test_an_instruction_gives_what_the_guide_says(bench: Bench, one: Case) -> None:
    bench.check(one)
