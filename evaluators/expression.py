"""The whitelisted integer expressions of launch plans and tasks. Nothing is ever eval'ed."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

Number = int | float

MAX_CHARACTERS = 400
MAX_NODES = 150
MAX_DEPTH = 40
LIMIT = 2**63


class ExpressionError(ValueError):
    """One sentence: what is wrong with which expression."""


def ceil_div(a: Number, b: Number) -> Number:
    return -(-a // b)


def align_up(a: Number, b: Number) -> Number:
    return ceil_div(a, b) * b


def log2_ceil(a: Number) -> int:
    if a < 1:
        raise ExpressionError(f"log2_ceil needs a positive number, not {a}")
    return (int(a) - 1).bit_length()


FUNCTIONS: Mapping[str, tuple[int, int, Callable[..., Number]]] = {
    "ceil_div": (2, 2, ceil_div),
    "align_up": (2, 2, align_up),
    "log2_ceil": (1, 1, log2_ceil),
    "min": (2, 8, min),
    "max": (2, 8, max),
}
RESERVED_NAMES = frozenset(FUNCTIONS) | {"and", "or", "not"}

_BINARY: Mapping[type[ast.operator], tuple[str, Callable[[Number, Number], Number]]] = {
    ast.Add: ("+", lambda a, b: a + b),
    ast.Sub: ("-", lambda a, b: a - b),
    ast.Mult: ("*", lambda a, b: a * b),
    ast.FloorDiv: ("//", lambda a, b: a // b),
    ast.Mod: ("%", lambda a, b: a % b),
}
_COMPARE: Mapping[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression; equal when the text is."""

    text: str
    names: frozenset[str] = field(compare=False)
    tree: ast.expr = field(compare=False, repr=False)

    def evaluate(self, env: Mapping[str, int]) -> Number:
        """The value; comparisons and logic give 0 or 1.

        Raises ExpressionError: an unknown name, a division by zero, a value beyond 64 bits.
        """
        try:
            return _evaluate(self.tree, env)
        except ExpressionError as error:
            raise ExpressionError(f"{error} in {self.text!r}") from None

    def integer(self, env: Mapping[str, int]) -> int:
        """Like evaluate, for an expression parsed without floats."""
        return int(self.evaluate(env))


@lru_cache(maxsize=4096)
def _parse(text: str, floats: bool) -> Expression:
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(
            f"an expression of {len(text)} characters is too long (limit {MAX_CHARACTERS})"
        )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ExpressionError(f"{text!r} is not an expression") from None
    names: set[str] = set()
    _check(tree, floats, names, [0], 0)
    return Expression(text, frozenset(names), tree)


def parse_expression(text: str | int | float, *, floats: bool = False) -> Expression:
    """Parse integers, names, + - * // %, shifts, comparisons, and or not, and FUNCTIONS.

    floats also admits decimal numbers (tolerances). Raises ExpressionError.
    """
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise ExpressionError(f"expected an expression, got {text!r}")
    if isinstance(text, int) and not -LIMIT < text < LIMIT:  # Python may refuse to write it
        raise ExpressionError("a number beyond 64 bits")
    return _parse(str(text), floats)


def _check(node: ast.expr, floats: bool, names: set[str], nodes: list[int], depth: int) -> None:
    """Refuse everything that is not on the whitelist, and what is too large."""
    nodes[0] += 1
    if nodes[0] > MAX_NODES or depth > MAX_DEPTH:
        raise ExpressionError(f"the expression is too large (limit {MAX_NODES} operations)")
    children: list[ast.expr]
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            if isinstance(value, float) and not floats:
                raise ExpressionError(f"{value} is not an integer")
            if not -LIMIT < value < LIMIT:
                raise ExpressionError("a number beyond 64 bits")
            return
        case ast.Name(id=name):
            names.add(name)
            return
        case ast.BinOp(op=op, left=left, right=right):
            if type(op) not in _BINARY and not isinstance(op, ast.LShift | ast.RShift):
                raise ExpressionError(f"operator {type(op).__name__} is not allowed")
            children = [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Not(), operand=operand):
            children = [operand]
        case ast.BoolOp(values=values):
            children = values
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            if any(type(op) not in _COMPARE for op in ops):
                raise ExpressionError("only < <= > >= == != compare")
            children = [left, *comparators]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            low, high, _ = FUNCTIONS[name]
            if not low <= len(args) <= high:
                raise ExpressionError(f"{name} does not take {len(args)} arguments")
            children = args
        case ast.Call(func=ast.Name(id=name)):
            raise ExpressionError(f"function {name!r} is not one of {', '.join(FUNCTIONS)}")
        case _:
            raise ExpressionError(f"{type(node).__name__} is not allowed")
    for child in children:
        _check(child, floats, names, nodes, depth + 1)


def _bounded(value: Number) -> Number:
    if not -LIMIT < value < LIMIT:  # also false for NaN
        raise ExpressionError("a value beyond 64 bits")
    return value


def _shift(op: ast.operator, a: Number, b: Number) -> Number:
    if not (isinstance(a, int) and isinstance(b, int) and 0 <= b < 64):
        raise ExpressionError(f"cannot shift {a} by {b}")
    return a << b if isinstance(op, ast.LShift) else a >> b


def _evaluate(node: ast.expr, env: Mapping[str, int]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            if name not in env:
                known = ", ".join(sorted(env)) or "none"
                raise ExpressionError(f"unknown name {name!r} (known: {known})")
            return env[name]
        case ast.BinOp(op=op, left=left, right=right):
            a, b = _evaluate(left, env), _evaluate(right, env)
            if isinstance(op, ast.LShift | ast.RShift):
                return _bounded(_shift(op, a, b))
            return _bounded(_divide_safely(_BINARY[type(op)][1], a, b))
        case ast.UnaryOp(op=op, operand=operand):
            value = _evaluate(operand, env)
            if isinstance(op, ast.Not):
                return int(not value)
            return -value if isinstance(op, ast.USub) else value
        case ast.BoolOp(op=op, values=values):
            wanted = isinstance(op, ast.Or)
            return int(wanted == any(bool(_evaluate(v, env)) == wanted for v in values))
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            a = _evaluate(left, env)
            for op_, comparator in zip(ops, comparators, strict=True):
                b = _evaluate(comparator, env)
                if not _COMPARE[type(op_)](a, b):
                    return 0
                a = b
            return 1
        case ast.Call(func=ast.Name(id=name), args=args):
            values_ = [_evaluate(arg, env) for arg in args]
            return _bounded(_divide_safely(FUNCTIONS[name][2], *values_))
        case _:
            raise ExpressionError(f"{type(node).__name__} is not allowed")


def _divide_safely(function: Callable[..., Number], *operands: Number) -> Number:
    try:
        return function(*operands)
    except ZeroDivisionError:
        raise ExpressionError("division by zero") from None
