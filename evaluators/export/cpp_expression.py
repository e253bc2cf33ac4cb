"""Expressions of launch plans (evaluators.expression) as C++ over 64-bit integers and doubles."""

import ast
from collections.abc import Collection, Mapping
from typing import NamedTuple

from evaluators.dtypes import DTYPES
from evaluators.expression import DECIMAL_FUNCTIONS, FUNCTIONS, IS_NULL, SIZEOF, Expression

_Signs = Mapping[type[ast.AST], str]
_ARITHMETIC: _Signs = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_COMPARE: _Signs = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_LOGIC: _Signs = {ast.And: "&&", ast.Or: "||", ast.USub: "-", ast.UAdd: "+", ast.Not: "!"}
_OPERATORS: _Signs = {**_ARITHMETIC, **_COMPARE, **_LOGIC}
_CALLS: Mapping[type[ast.operator], str] = {ast.FloorDiv: "floor_div", ast.Mod: "floor_mod"}


class Written(NamedTuple):
    """C++, and whether it is a double and no long long."""

    text: str
    decimal: bool = False


def cpp_expression(
    expression: Expression, values: Mapping[str, str], decimals: Collection[str] = ()
) -> str:
    """One C++ expression, to be put where the functions of ARITHMETIC are seen.

    values: by name, a number or what holds it in C++; of dtype parameters dtype_code()s.
    decimals: names whose values are doubles.
    """
    return _Writer(values, decimals).written(expression.tree).text


def dtype_code(dtype: str) -> int:
    """The number that stands for a dtype."""
    return list(DTYPES).index(dtype)


class _Writer:
    def __init__(self, values: Mapping[str, str], decimals: Collection[str]) -> None:
        self._values, self._decimals = values, decimals

    def written(self, node: ast.expr) -> Written:
        match node:
            case ast.Constant(value=int() as value):
                return Written(f"{value}LL")
            case ast.Constant(value=float() as value):
                return Written(repr(value), decimal=True)
            case ast.Name(id=name):
                return self._named(name)
            case ast.BinOp(op=op, left=left, right=right):
                return self._binary(op, self.written(left), self.written(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Written(f"(long long)(!{self.written(operand).text})")
            case ast.UnaryOp(op=op, operand=operand):
                text, decimal = self.written(operand)
                return Written(f"({_OPERATORS[type(op)]}{text})", decimal)
            case ast.BoolOp(op=op, values=parts):
                sign = f" {_OPERATORS[type(op)]} "
                return Written(f"(long long)({sign.join(self.written(p).text for p in parts)})")
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self._comparison([left, *comparators], ops)
            case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=of)]) if name == SIZEOF:
                known = of not in self._values and of in DTYPES
                nbytes = (
                    f"{DTYPES[of].itemsize}LL" if known else f"sizeof_dtype({self._values[of]})"
                )
                return Written(nbytes)
            case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=of)]) if name == IS_NULL:
                return Written(f"(long long)shape.{IS_NULL}_{of}")
            case ast.Call(func=ast.Name(id=name), args=args) if name in FUNCTIONS:
                return self._call(name, [self.written(argument) for argument in args])
            case ast.Call(func=ast.Name(id=name), args=[arg]) if name in DECIMAL_FUNCTIONS:
                return Written(f"{name}((double)({self.written(arg).text}))", decimal=True)
        raise ValueError(f"{ast.dump(node)} is in no expression that parse_expression() admits")

    def _named(self, name: str) -> Written:
        if name not in self._values and name in DTYPES:
            return Written(f"{dtype_code(name)}LL")
        return Written(self._values[name], name in self._decimals)

    def _binary(self, op: ast.operator, a: Written, b: Written) -> Written:
        if isinstance(op, ast.Div):
            return Written(f"((double)({a.text}) / (double)({b.text}))", decimal=True)
        if type(op) in _CALLS:
            return self._called(_CALLS[type(op)], [a, b])
        return Written(f"({a.text} {_OPERATORS[type(op)]} {b.text})", a.decimal or b.decimal)

    def _comparison(self, operands: list[ast.expr], operators: list[ast.cmpop]) -> Written:
        """a < b <= c is (a < b) and (b <= c); what stands in the middle has no side effects."""
        written = [self.written(operand).text for operand in operands]
        triples = zip(written, operators, written[1:], strict=False)
        pairs = " && ".join(f"({a} {_OPERATORS[type(o)]} {b})" for a, o, b in triples)
        return Written(f"(long long)({pairs})")

    def _call(self, name: str, arguments: list[Written]) -> Written:
        """min and max of many are those of pairs; the others take what they take."""
        if name not in ("min", "max"):
            return self._called(name, arguments)
        made = arguments[0]
        for argument in arguments[1:]:
            made = self._called(f"{name}_of", [made, argument])
        return made

    def _called(self, name: str, arguments: list[Written]) -> Written:
        """With doubles, where one of them is."""
        decimal = any(argument.decimal for argument in arguments)
        cast = "(double)" if decimal else ""
        told = ", ".join(f"{cast}{argument.text}" for argument in arguments)
        return Written(f"{name}({told})", decimal and name != "log2_ceil")
