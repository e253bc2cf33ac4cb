"""The expressions of launch plans (evaluators.expression) as C++ over 64-bit integers."""

import ast
from collections.abc import Mapping

from evaluators.expression import FUNCTIONS, Expression

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


def cpp_expression(expression: Expression, values: Mapping[str, str]) -> str:
    """One C++ expression of type long long, to be put where the functions of ARITHMETIC are seen.

    values: by name, a number or what holds it in C++.
    """
    return _written(expression.tree, values)


def _written(node: ast.expr, values: Mapping[str, str]) -> str:
    match node:
        case ast.Constant(value=int() as value):
            return f"{value}LL"
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(op=op, left=left, right=right):
            a, b = _written(left, values), _written(right, values)
            if type(op) in _CALLS:
                return f"{_CALLS[type(op)]}({a}, {b})"
            return f"({a} {_OPERATORS[type(op)]} {b})"
        case ast.UnaryOp(op=op, operand=operand):
            return f"(long long)({_OPERATORS[type(op)]}{_written(operand, values)})"
        case ast.BoolOp(op=op, values=parts):
            sign = f" {_OPERATORS[type(op)]} "
            return f"(long long)({sign.join(_written(part, values) for part in parts)})"
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return _comparison([left, *comparators], ops, values)
        case ast.Call(func=ast.Name(id=name), args=args) if name in FUNCTIONS:
            return _call(name, [_written(argument, values) for argument in args])
    raise ValueError(f"{ast.dump(node)} is in no expression that parse_expression() admits")


def _comparison(
    operands: list[ast.expr], operators: list[ast.cmpop], values: Mapping[str, str]
) -> str:
    """a < b <= c is (a < b) and (b <= c); what stands in the middle has no side effects."""
    written = [_written(operand, values) for operand in operands]
    pairs = zip(written, operators, written[1:], strict=False)
    return f"(long long)({' && '.join(f'({a} {_OPERATORS[type(o)]} {b})' for a, o, b in pairs)})"


def _call(name: str, arguments: list[str]) -> str:
    """min and max of many are those of pairs; the others take what they take."""
    if name not in ("min", "max"):
        return f"{name}({', '.join(arguments)})"
    written = arguments[0]
    for argument in arguments[1:]:
        written = f"{name}_of({written}, {argument})"
    return written
