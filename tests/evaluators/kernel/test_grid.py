"""Tests of a space as a whole: constraints over many points say what they say of each."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.device_info import target_of
from evaluators.expression import ExpressionError, parse_expression
from evaluators.kernel import grid as grids
from evaluators.kernel.columns import holds_at
from evaluators.kernel.grid import Grid
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.arguments import Workload
from tests.evaluators.test_expression import grow

VALUES = {"M": (1, 2, 48, 2**31), "N": (0, 3, 7), "K": (-4, 1, 64)}
atoms = st.sampled_from(["M", "N", "K", "0", "1", "3", "64", "5000000000"])
logic = st.sampled_from(["and", "or"])


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        grow(inner),
        st.builds("({} {} {})".format, inner, logic, inner),
        st.builds("(not {})".format, inner),
        st.builds("ceil_div({}, {})".format, inner, inner),
        st.builds("align_up({}, {})".format, inner, inner),
        st.builds("log2_ceil({})".format, inner),
        st.builds("({} << {})".format, inner, inner),
        st.builds("({} < {} <= {})".format, inner, inner, inner),
    )


def alone(text: str, params: dict[str, int]) -> bool:
    try:
        return bool(parse_expression(text).evaluate(params))
    except ExpressionError:
        return False


@given(st.recursive(atoms, grown, max_leaves=10))
def test_many_points_are_judged_as_each_alone(text: str) -> None:
    whole = Grid(VALUES, [], {})
    columns = {name: whole.rows[:, place] for place, name in enumerate(whole.names)}
    found = holds_at(parse_expression(text), columns)
    expected = [alone(text, whole.params(row)) for row in range(whole.size)]
    assert found.tolist() == expected


def test_its_rows_are_the_points_that_hold_and_no_others() -> None:
    grid = Grid(
        {"A": (8, 1, 4), "B": (2, 16)},
        [parse_expression("A * B <= FIXED"), parse_expression("A != 1 or B == 2")],
        {"FIXED": 64},
    )
    points = {tuple(row) for row in grid.rows.tolist()}
    assert points == {(8, 2), (1, 2), (4, 2), (4, 16)}
    assert grid.size == 6 and grid.names == ("A", "B")
    beside = np.array([[4, 16], [8, 16], [5, 2]])
    assert grid.feasible(beside).tolist() == [[4, 16]], "a point beside the grid is none of it"
    for _ in range(2 * grids.MOST_ASKED):  # alone at first, then by the whole
        assert grid.holds({"A": 4, "B": 16, "FIXED": 64})
        assert not grid.holds({"A": 8, "B": 16, "FIXED": 64})
        assert grid.holds({"A": 5, "B": 2, "FIXED": 64}), "it may lie beside"
        assert grid.holds({"A": 8, "B": 16, "FIXED": 512}), "with other fixed parameters too"
    again = pickle.loads(pickle.dumps(grid))
    assert again.rows.tolist() == grid.rows.tolist()


def test_a_grid_that_is_too_large_is_asked_point_by_point() -> None:
    many = {name: tuple(range(64)) for name in "ABCD"}
    grid = Grid(many, [parse_expression("A < B")], {})
    assert not grid.small
    with pytest.raises(ValueError, match="16777216 points"):
        _ = grid.rows
    rows = np.array([[1, 2, 0, 0], [2, 1, 0, 0]])
    assert grid.feasible(rows).tolist() == [[1, 2, 0, 0]]
    assert grid.holds({"A": 1, "B": 2, "C": 0, "D": 0})


SOURCE = """/*---
params: {ROWS: 4, V: 4, FIXED: 3}   # a comment
space: {ROWS: [1, 2, 4, 8], V: [2, 4, 8], FIXED: [3]}
constraints: ["ROWS * V <= 32"]
launches: [{kernel: k, grid: [1], block: [64], args: [x]}]
---*/
__global__ void k(float* x) { x[0] = ROWS * V; }
"""


def test_another_point_is_what_its_own_text_says() -> None:
    kernel = parse_kernel(SOURCE)
    for changed in ({"ROWS": 8}, {"V": 8, "ROWS": 1}, {"FIXED": 5}, {"ROWS": 2}):
        made = kernel.with_params(changed)
        fresh = parse_kernel(made.text + " ")  # another text: parsed anew
        assert (made.id, made.structure) == (fresh.id, fresh.structure)
        assert made.params == fresh.params and made.front == fresh.front
        assert made.code == kernel.code and made.code_line == kernel.code_line
    assert kernel.with_params({"ROWS": 8}).grid is kernel.grid
    assert kernel.with_params({"FIXED": 5}).grid is not kernel.grid


def test_variants_and_space_are_replaced_and_the_rest_stays() -> None:
    kernel = parse_kernel(SOURCE)
    made = kernel.with_variants([("N <= 64 and M > 2", {"ROWS": 1}), ("N > 64", {"V": 8})])
    assert [(one.when.text, dict(one.params)) for one in made.variants] == [
        ("N <= 64 and M > 2", {"ROWS": 1}),
        ("N > 64", {"V": 8}),
    ]
    assert made.structure != kernel.structure and made.space == kernel.space
    assert (
        made.params_for(Workload(dims={"N": 64, "M": 3}, suite="tests"), target_of("cpu"))["ROWS"]
        == 1
    )
    assert (
        made.params_for(Workload(dims={"N": 65, "M": 3}, suite="tests"), target_of("cpu"))["V"] == 8
    )
    assert made.with_params({"ROWS": 2}).variants, "another point keeps them"
    back = made.with_variants(())
    assert (back.id, back.structure) == (kernel.id, kernel.structure)
    assert kernel.with_variants(()) is kernel
    smaller = kernel.with_space({"ROWS": (4, 8)})
    assert smaller.space == {"ROWS": (4, 8)} and smaller.id == kernel.id


def test_a_grid_is_restricted_to_points_that_no_constraint_tells() -> None:
    values = {"A": (8, 1, 4), "B": tuple(range(4000)), "C": tuple(range(4000))}
    grid = Grid(values, [parse_expression("A > 4")], {"D": 7})
    assert not grid.small
    listed = np.array([[1, 3999, 0], [8, 0, 17], [1, 3999, 0], [4, 5, 6]])
    grid.restrict_to(listed)
    assert grid.small
    for one in (grid, pickle.loads(pickle.dumps(grid))):
        assert sorted(map(tuple, one.rows.tolist())) == [(1, 3999, 0), (4, 5, 6), (8, 0, 17)]
        asked = np.array([[4, 5, 6], [4, 5, 7], [2, 5, 6], [8, 0, 17]])
        assert one.feasible(asked).tolist() == [[4, 5, 6], [8, 0, 17]]
        assert one.holds({"A": 1, "B": 3999, "C": 0, "D": 7})
        assert not one.holds({"A": 8, "B": 1, "C": 1, "D": 7})
        assert not one.holds({"A": 1, "B": 3999, "C": 0, "D": 8})
    small = Grid({"A": (1, 2)}, [], {})
    assert len(small.rows) == 2
    small.restrict_to(np.array([[2]]))
    assert small.rows.tolist() == [[2]]


@pytest.mark.parametrize("rows", [np.zeros((0, 1), np.int64), np.array([[1], [3]])])
def test_it_is_not_restricted_to_points_beside_it(rows: np.ndarray[Any, Any]) -> None:
    with pytest.raises(ValueError, match="points"):
        Grid({"A": (1, 2)}, [], {}).restrict_to(rows)
