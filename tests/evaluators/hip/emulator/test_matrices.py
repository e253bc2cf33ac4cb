"""Matrix instructions, dense and sparse, one by one."""

import numpy as np
import pytest

from evaluators.acceptance.mfma import INSTRUCTIONS, table
from tests.evaluators.hip.emulator.bench import Bench
from tests.evaluators.hip.emulator.case import Case, name_of
from tests.evaluators.hip.emulator.matrix_cases import CASES, SHAPES
from tests.evaluators.hip.emulator.matrix_layout import places, result_places


@pytest.mark.parametrize("one", CASES, ids=name_of)
def test_an_instruction_gives_what_the_guide_says(bench: Bench, one: Case) -> None:
    bench.check(one)


@pytest.mark.parametrize("name", [one.name for one in INSTRUCTIONS])
def test_the_formulas_of_layouts_agree_with_the_table(name: str) -> None:
    shape, told = SHAPES[name], table()[name]
    row, k, _ = places(shape, shape.depth)
    np.testing.assert_array_equal(told["A"], np.stack([row, k], -1))
    np.testing.assert_array_equal(told["B"], np.stack([k, row], -1))
    np.testing.assert_array_equal(told["D"], np.stack(result_places(shape)[:2], -1))
