"""Matrix instructions, dense and sparse, one by one."""

import pytest

from tests.evaluators.hip.emulator.bench import Bench
from tests.evaluators.hip.emulator.case import Case, name_of
from tests.evaluators.hip.emulator.matrix_cases import CASES


@pytest.mark.parametrize("one", CASES, ids=name_of)
def test_an_instruction_gives_what_the_guide_says(bench: Bench, one: Case) -> None:
    bench.check(one)
