"""Tests of variants: which point serves which shape, and conditions that say so."""

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.expression import parse_expression
from operators.tuning.variants import Composition, compose

SHAPES = {
    "wide": {"R": 256, "C": 65536},
    "square": {"R": 4096, "C": 4096},
    "tall": {"R": 65536, "C": 256},
}


def served(found: Composition, dims: Mapping[str, int]) -> dict[str, int]:
    for when, params in found.variants:
        if parse_expression(when).evaluate(dims):
            return {**found.params, **params}
    return dict(found.params)


def test_each_shape_gets_its_best_and_shapes_in_between_the_nearest() -> None:
    points = [
        ({"B": 1, "V": 4}, {"wide": 0.0, "square": 0.5, "tall": 1.6}),
        ({"B": 8, "V": 4}, {"wide": 1.0, "square": 0.8, "tall": 0.0}),
        ({"B": 4, "V": 2}, {"wide": 0.9, "square": 0.7, "tall": 0.9}),
    ]
    found = compose(points, SHAPES, 0.02, {})
    assert found is not None
    assert served(found, SHAPES["tall"])["B"] == 1
    assert served(found, SHAPES["wide"])["B"] == served(found, SHAPES["square"])["B"] == 8
    assert served(found, {"R": 60000, "C": 300})["B"] == 1, "as the nearest that was measured"
    assert found.gain == pytest.approx((1.0 + 0.8 + 1.6) / 3)


def test_what_may_be_luck_makes_no_variant() -> None:
    points = [
        ({"B": 1}, {"wide": 1.0, "square": 1.0, "tall": 1.0}),
        ({"B": 2}, {"wide": 1.01, "square": 0.9, "tall": 0.9}),
    ]
    assert compose(points, SHAPES, 0.02, {}) is None
    assert compose(points, SHAPES, 0.001, {}) is not None
    assert compose(points, {"wide": SHAPES["wide"]}, 0.001, {}) is None, "one shape has no variants"
    assert compose([({"B": 1}, {"wide": 1.0})], SHAPES, 0.001, {}) is None, "not all are measured"


sizes = st.integers(0, 18).map(lambda power: 1 << power)
shapes = st.lists(st.tuples(sizes, sizes), min_size=2, max_size=8, unique=True)


@given(shapes, st.integers(0, 1000))
def test_the_conditions_tell_any_shapes_apart(dims: list[tuple[int, int]], seed: int) -> None:
    told = {str(n): {"M": m, "N": n_} for n, (m, n_) in enumerate(dims)}
    points = [
        ({"P": number}, {label: math.sin(seed + 7 * number + 3 * int(label)) for label in told})
        for number in range(4)
    ]
    found = compose(points, told, 0.01, {})
    if found is None:
        return
    gains = {tuple(params.items()): one for params, one in points}
    reached = [gains[tuple(served(found, dims).items())][label] for label, dims in told.items()]
    assert sum(reached) / len(reached) == pytest.approx(found.gain)


def test_conditions_hold_no_bound_that_another_implies() -> None:
    shapes = {f"{size}": {"N": size} for size in (64, 256, 1024, 4096)}
    points = [
        ({"B": place}, {name: float(name == label) for name in shapes})
        for place, label in enumerate(shapes)
    ]
    found = compose(points, shapes, 0.02, {})
    assert found is not None
    for when, _ in found.variants:
        bounds = [part.rpartition(" ")[0] for part in when.split(" and ")]
        assert len(bounds) == len(set(bounds)), when
    assert {served(found, dims)["B"] for dims in shapes.values()} == {0, 1, 2, 3}


def test_what_serves_all_shapes_is_the_best_by_weight() -> None:
    first, *others = SHAPES
    points = [
        ({"B": 1}, {**dict.fromkeys(others, 0.0), first: 0.5}),
        ({"B": 2}, {**dict.fromkeys(others, 0.5), first: 0.0}),
    ]
    heavy = compose(points, SHAPES, 0.1, {first: 10.0 * len(SHAPES)})
    equal = compose(points, SHAPES, 0.1, {})
    assert heavy is not None and heavy.params == {"B": 1}
    assert equal is not None and equal.params == {"B": 2}
