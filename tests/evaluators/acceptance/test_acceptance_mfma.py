"""The MFMA layout probe: compiled for MI300, and its arithmetic against MFMA in plain numpy."""

from typing import Any

import numpy as np
import pytest

from evaluators.acceptance.launching import kernel, launch, plan
from evaluators.acceptance.mfma import (
    INSTRUCTIONS,
    LANES,
    Instruction,
    disagreements,
    operands,
    table,
)
from evaluators.gpu.compiler import GpuCompiler
from evaluators.hip.device import LDS_BYTES
from evaluators.hip.hiprtc import HiprtcChild

Array = np.ndarray[Any, Any]
by_name = pytest.mark.parametrize("one", INSTRUCTIONS, ids=lambda one: one.name)


def places(one: Instruction) -> dict[str, tuple[Array, Array]]:
    """Rows and columns by lane and element, in the words of AMD's ISA guide, not from the table."""
    lane = np.arange(LANES)[:, None]
    element, register = np.arange(one.held)[None], np.arange(one.sums)[None]
    line, depth = lane % one.side + 0 * element, one.held * (lane // one.side) + element
    row = 8 * (register // 4) + 4 * (lane // one.side) + register % 4
    return {"A": (line, depth), "B": (depth, line), "D": (row, lane % one.side + 0 * register)}


def multiply(one: Instruction, a: Array, b: Array) -> Array:
    """What the instruction makes of registers."""
    where = places(one)
    wide_a = np.zeros((len(a), one.side, one.depth))
    wide_b = np.zeros((len(b), one.depth, one.side))
    wide_a[:, *where["A"]] = a.astype(np.float64)
    wide_b[:, *where["B"]] = b.astype(np.float64)
    sums: Array = (wide_a @ wide_b)[:, *where["D"]].astype(one.sum_dtype)
    return sums


def test_every_instruction_of_the_table_is_probed() -> None:
    assert {one.name for one in INSTRUCTIONS} == set(table())
    for layout in table().values():
        assert min(int(rows.min()) for rows in layout.values()) == 0


@by_name
def test_a_device_that_agrees(one: Instruction) -> None:
    layout = table()[one.name]
    a, b = operands(one, layout)
    assert disagreements(one, layout, multiply(one, a, b)) == []


@by_name
@pytest.mark.parametrize("matrix", ["A", "B", "D"])
def test_two_rows_exchanged_are_found(one: Instruction, matrix: str) -> None:
    layout = {name: rows.copy() for name, rows in table()[one.name].items()}
    rows = layout[matrix]
    rows[[5, 40], 0] = rows[[40, 5], 0]
    said = disagreements(one, layout, multiply(one, *operands(one, layout)))
    assert any(line.startswith(f"{matrix} lane 5 element 0 ") for line in said), said[:4]
    assert any(line.startswith(f"{matrix} lane 40 element 0 ") for line in said), said[:4]


def test_sums_that_are_no_product_are_found() -> None:
    one = INSTRUCTIONS[0]
    layout = table()[one.name]
    sums = np.full((4 * LANES * one.held + 1, LANES, one.sums), np.nan, np.float32)
    with np.errstate(invalid="ignore"):
        assert len(disagreements(one, layout, sums)) > 1000


@by_name
def test_the_probe_compiles_to_its_instruction(one: Instruction, gfx942: HiprtcChild) -> None:
    compiler = GpuCompiler(
        backend="hip", arch="gfx942", child=gfx942, wavefront=64, lds_bytes=LDS_BYTES
    )
    step = launch("probe", ["a", "b", "d"], grid=(2049, 1, 1), block=(LANES, 1, 1))
    (found,) = compiler.compile(kernel(one.source), [plan(step)]).resources
    assert found["mfma"] == 1
    assert found["scratch_bytes"] == 0
