"""Right kernels as people write them pass, and wrong ones do not, in whatever order they run."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from evaluators.acceptance.launching import DEADLINE_S, MEMORY_BYTES, kernel, plan
from evaluators.device import Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.hip.device import compiler
from evaluators.hip.emulator.device import open_emulated
from evaluators.hip.hiprtc import HiprtcChild
from tests.evaluators.hip.emulator.real_case import INTS, Array, Real, zeros
from tests.evaluators.hip.emulator.real_functions import FUNCTIONS, PRODUCTS
from tests.evaluators.hip.emulator.real_kernels import ACROSS, MEMORY, WAITING
from tests.soaked import one_in

FOLDER = Path(__file__).parents[3] / "kernels" / "emulated"
RIGHT = (*ACROSS, *WAITING, *MEMORY, *FUNCTIONS, *PRODUCTS)
ORDERS = (0, 7, 11)
"""In order, and two seeds."""

FLOATS, DOUBLES = INTS[:256].astype(np.float32), INTS[:256].astype(np.float64)
RACE = r"bytes at \d+ of LDS that wavefront \d (reads|wrote), with no barrier between"
UNWRITTEN = r"bytes at \d+ of LDS that no thread wrote"


def wrong(entry: str, said: str, x: Array, threads: int = 256) -> tuple[Real, str]:
    arrays = {"x": x[:256], "y": zeros(256, x.dtype)}
    block = (threads, 1, 1)
    one = Real(name=entry, file="wrong", entry=entry, arrays=arrays, wanted={}, block=block)
    return one, said


WRONG = (
    wrong("no_barrier<int>", f"{RACE}|{UNWRITTEN}", INTS),
    wrong("no_barrier<double>", f"{RACE}|{UNWRITTEN}", DOUBLES),
    wrong("no_barrier<__half>", f"{RACE}|{UNWRITTEN}", FLOATS.astype(np.float16)),
    wrong("one_barrier_of_two<int>", RACE, INTS),
    wrong("one_barrier_of_two<_Float16>", RACE, FLOATS.astype(np.float16)),
    wrong("unwritten_rows", UNWRITTEN, FLOATS, 64),
    wrong("index_unwritten", UNWRITTEN, INTS, 64),
    wrong("branch_unwritten", UNWRITTEN, INTS, 64),
)


@cache
def compiled(child: HiprtcChild, file: str) -> Compiled:
    """For all that is launched of the file."""
    cases = (*RIGHT, *(one for one, _ in WRONG))
    steps = {(one.entry, one.block): one.step for one in cases if one.file == file}
    source = kernel((FOLDER / f"{file}.hip").read_text())
    return compiler(arch="gfx942", child=child).compile(source, [plan(*steps.values())])


def run(child: HiprtcChild, one: Real, order: int) -> dict[str, Array]:
    """The arrays afterwards; accesses beyond them end it."""
    opened = open_emulated(0, order=order).open(
        compiled(child, one.file), memory_bytes=MEMORY_BYTES, fenced=True
    )
    with opened as session:
        buffers = {name: session.alloc(array.nbytes) for name, array in one.arrays.items()}
        for name, array in one.arrays.items():
            session.write(buffers[name], array)
        session.run(plan(one.step), buffers, deadline_s=DEADLINE_S)
        return {
            name: session.read(buffers[name], array.dtype, array.shape)
            for name, array in one.arrays.items()
        }


@pytest.mark.parametrize("order", one_in(2, ORDERS))
@pytest.mark.parametrize("one", RIGHT, ids=lambda one: one.name)
def test_a_right_kernel_passes(gfx942: HiprtcChild, one: Real, order: int) -> None:
    found = run(gfx942, one, order)
    for name, wanted in one.wanted.items():
        np.testing.assert_array_equal(found[name].ravel(), np.ravel(wanted))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("one", "said"), WRONG, ids=lambda value: getattr(value, "name", ""))
def test_a_wrong_kernel_does_not(gfx942: HiprtcChild, one: Real, said: str, order: int) -> None:
    with pytest.raises(Rejected, match=said) as caught:
        run(gfx942, one, order)
    assert caught.value.status is Status.WRONG


def test_a_read_beyond_a_buffer_by_one_is_told(gfx942: HiprtcChild) -> None:
    short = next(one for one in RIGHT if one.name == "all_of_lds")
    arrays = {**short.arrays, "x": INTS[:1023]}
    less = Real(**{name: getattr(short, name) for name in Real.__slots__} | {"arrays": arrays})
    with pytest.raises(Rejected, match=r"reads 4 bytes right behind x \(4,092 bytes\)"):
        run(gfx942, less, 0)
