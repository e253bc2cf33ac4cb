"""Every shipped kernel is right in emulation, on a ragged shape and as hiprtc compiles it."""

from collections.abc import Iterator

import pytest

from evaluators.device_info import target_of
from evaluators.hip import device as hip
from evaluators.hip.emulator.device import open_emulated
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task_file import load_task, shipped_tasks
from operators.catalog.families import families
from tests.evaluators.hip.emulator.shipped_kernels import (
    KERNELS,
    OTHERS,
    WRITTEN,
    Checker,
    Shipped,
    ragged_shape,
    step_of,
)

IN_ORDER, *SEEDS = 0, 1, 2
by_name = pytest.mark.parametrize("one", KERNELS, ids=lambda one: one.name)


def checker(gfx942: HiprtcChild, *orders: int) -> Checker:
    compiler = hip.compiler(arch="gfx942", child=gfx942)
    return Checker(compiler, *(open_emulated(0, order=order) for order in orders))


@pytest.fixture(scope="module")
def one_order(gfx942: HiprtcChild) -> Iterator[Checker]:
    made = checker(gfx942, SEEDS[0])
    yield made
    made.close()


@pytest.fixture(scope="module")
def orders(gfx942: HiprtcChild) -> Iterator[Checker]:
    made = checker(gfx942, IN_ORDER, *SEEDS)
    yield made
    made.close()


@by_name
def test_its_shape_is_ragged(one: Shipped) -> None:
    """Which must not quietly become one that every block divides, or a single element."""
    shape = ragged_shape(one.task, one.kernel)
    launches = one.kernel.plan(one.task, shape, target_of("hip")).launches
    threads = {extent for step in launches for extent in step.block if step_of(one.task) % extent}
    sizes = {size for size in shape.dims.values() if size > 1}
    assert any(all(size % tile for tile in threads) for size in sizes), shape.label


def test_no_family_is_left_out() -> None:
    found = {name: tuple(families(load_task(name)).sources) for name in shipped_tasks()}
    assert {name: written for name, written in found.items() if written} == WRITTEN


@pytest.mark.long
@by_name
def test_a_shipped_kernel_is_right(one_order: Checker, one: Shipped) -> None:
    assert isinstance(one_order.check(one.task, one.kernel), Workload)


@pytest.mark.soak
@by_name
def test_points_of_its_space_are_right_in_every_order(orders: Checker, one: Shipped) -> None:
    for kernel in one.points():
        orders.check(one.task, kernel)


@pytest.mark.soak
@pytest.mark.parametrize("one", OTHERS, ids=lambda one: one.name)
def test_an_honest_kernel_is_right_in_every_order(orders: Checker, one: Shipped) -> None:
    orders.check(one.task, one.kernel)
