"""One expression over many points at once: what constraints say of a whole space."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evaluators.expression import Expression, ExpressionError

Column = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

EXACT = 2**31
"""Factors below it have a product, and terms a sum, that 64 bits hold."""

_BINARY: Mapping[type[ast.operator], Callable[[Column, Column], Column]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
}
_CALLED = ("min", "max", "ceil_div", "align_up")
_COMPARE: Mapping[type[ast.cmpop], Callable[[Column, Column], Mask]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}


def holds_at(expression: Expression, columns: Mapping[str, Column]) -> Mask:
    """Where an expression of integers is true; where its evaluation fails it is false.

    columns: by name, all of one length. The same as Expression.evaluate() of every row.
    """
    length = len(next(iter(columns.values()))) if columns else 1
    walk = _Walk(columns, length)
    true = np.broadcast_to(walk.value(expression.tree) != 0, (length,)).copy()
    for row in np.flatnonzero(~walk.exact):
        env = {name: int(column[row]) for name, column in columns.items()}
        try:
            true[row] = bool(expression.evaluate(env))
        except ExpressionError:
            true[row] = False
    return true


class _Walk:
    """exact: rows for which no division by zero, no large number and no shift was met."""

    def __init__(self, columns: Mapping[str, Column], length: int) -> None:
        self._columns = columns
        self.exact: Mask = np.ones(length, dtype=np.bool_)

    def value(self, node: ast.expr) -> Column:
        match node:
            case ast.Constant(value=int() as value) if abs(value) < EXACT:
                return np.full(1, value, dtype=np.int64)
            case ast.Name(id=name) if name in self._columns:
                return self._small(self._columns[name])
            case ast.BinOp(op=op, left=left, right=right) if type(op) in _BINARY:
                return self._binary(type(op), self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _number(self.value(operand) == 0)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.value(operand)
            case ast.BoolOp(op=op, values=values):
                join = np.logical_or if isinstance(op, ast.Or) else np.logical_and
                true = self.value(values[0]) != 0
                for other in values[1:]:
                    true = join(true, self.value(other) != 0)
                return _number(true)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self._compare(self.value(left), ops, comparators)
            case ast.Call(func=ast.Name(id=name), args=args) if name in _CALLED:
                return self._call(name, [self.value(arg) for arg in args])
            case _:  # rare: row by row
                self.exact[:] = False
                return np.zeros(1, dtype=np.int64)

    def _binary(self, op: type[ast.operator], a: Column, b: Column) -> Column:
        if op in (ast.FloorDiv, ast.Mod):
            b = self._divisor(b)
        return self._small(_BINARY[op](a, b))

    def _compare(self, a: Column, ops: list[ast.cmpop], others: list[ast.expr]) -> Column:
        true: Mask = np.ones(1, dtype=np.bool_)
        for op, other in zip(ops, others, strict=True):
            b = self.value(other)
            true = true & _COMPARE[type(op)](a, b)
            a = b
        return _number(true)

    def _call(self, name: str, values: list[Column]) -> Column:
        if name in ("min", "max"):
            join = np.minimum if name == "min" else np.maximum
            least = values[0]
            for value in values[1:]:
                least = join(least, value)
            return least
        a, b = values[0], self._divisor(values[1])
        quotient = -np.floor_divide(-a, b)
        return quotient if name == "ceil_div" else self._small(quotient * b)

    def _divisor(self, b: Column) -> Column:
        self.exact &= b != 0
        return np.where(b == 0, 1, b)

    def _small(self, value: Column) -> Column:
        self.exact &= np.abs(value) < EXACT
        return np.where(np.abs(value) < EXACT, value, 0)


def _number(true: Mask) -> Column:
    return true.astype(np.int64)
