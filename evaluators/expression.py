"""The whitelisted expressions of launch plans and tasks. Nothing is ever eval'ed."""

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from evaluators.dtypes import DTYPES

Number = int | float
Env = Mapping[str, Number | str]
"""Values by name: numbers, and of dtype parameters the names of dtypes. Of an optional argument
the key null_key() says whether it is null."""

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


def square_root(a: Number) -> float:
    if a < 0:
        raise ExpressionError(f"sqrt needs a number that is not negative, not {a}")
    return math.sqrt(a)


FUNCTIONS: Mapping[str, tuple[int, int, Callable[..., Number]]] = {
    "ceil_div": (2, 2, ceil_div),
    "align_up": (2, 2, align_up),
    "log2_ceil": (1, 1, log2_ceil),
    "min": (2, 8, min),
    "max": (2, 8, max),
}
RESERVED_NAMES = frozenset(FUNCTIONS) | {"and", "or", "not"}
DECIMAL_FUNCTIONS: Mapping[str, tuple[int, int, Callable[..., Number]]] = {
    "sqrt": (1, 1, square_root),
}
"""Where decimals are admitted."""
SIZEOF, IS_NULL = "sizeof", "is_null"
"""Of a dtype or a dtype parameter; of an optional argument. Both take one name."""

_BINARY: Mapping[type[ast.operator], tuple[str, Callable[[Number, Number], Number]]] = {
    ast.Add: ("+", lambda a, b: a + b),
    ast.Sub: ("-", lambda a, b: a - b),
    ast.Mult: ("*", lambda a, b: a * b),
    ast.FloorDiv: ("//", lambda a, b: a // b),
    ast.Mod: ("%", lambda a, b: a % b),
    ast.Div: ("/", lambda a, b: a / b),
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

    def evaluate(self, env: Env) -> Number:
        """The value; comparisons and logic give 0 or 1.

        Raises ExpressionError: an unknown name, a division by zero, a value beyond 64 bits, a dtype
        where a number is due.
        """
        try:
            return _number(self.tree, env)
        except ExpressionError as error:
            raise ExpressionError(f"{error} in {self.text!r}") from None

    def integer(self, env: Env) -> int:
        """Like evaluate. Raises ExpressionError also for what is no integer."""
        value = self.evaluate(env)
        if isinstance(value, float):
            raise ExpressionError(f"{value:g} is not an integer, but must be, in {self.text!r}")
        return int(value)

    def unknown(self, known: Mapping[str, object] | frozenset[str] | set[str]) -> list[str]:
        """Its names that are neither known nor dtypes, sorted."""
        return sorted(name for name in self.names if name not in known and name not in DTYPES)


def null_key(argument: str) -> str:
    """Under which an Env says whether an optional argument is null; no other name is like it."""
    return f"{IS_NULL}({argument})"


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
    """Parse integers, names, + - * // %, shifts, comparisons, and or not, FUNCTIONS, sizeof of a
    dtype and is_null of an argument.

    floats also admits decimal numbers, / and sqrt (tolerances). Raises ExpressionError.
    """
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise ExpressionError(f"expected an expression, got {text!r}")
    if isinstance(text, int) and not -LIMIT <= text < 2 * LIMIT:  # Python may refuse to write it
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
            _bounded(value, "a number")
            return
        case ast.Name(id=name):
            names.add(name)
            return
        case ast.BinOp(op=op, left=left, right=right):
            known = type(op) in _BINARY or isinstance(op, ast.LShift | ast.RShift)
            if not known or (isinstance(op, ast.Div) and not floats):
                raise ExpressionError(
                    f"operator {type(op).__name__} is not allowed"
                    + (" here: // divides integers" if isinstance(op, ast.Div) else "")
                )
            children = [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Not(), operand=operand):
            children = [operand]
        case ast.BoolOp(values=values):
            children = values
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            if any(type(op) not in _COMPARE for op in ops):
                raise ExpressionError("only < <= > >= == != compare")
            children = [left, *comparators]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in (SIZEOF, IS_NULL):
            if len(args) != 1 or not isinstance(args[0], ast.Name):
                what = "a dtype" if name == SIZEOF else "an optional argument"
                raise ExpressionError(f"{name} takes the name of {what}")
            names.add(args[0].id if name == SIZEOF else null_key(args[0].id))
            return
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _functions(floats):
            low, high, _ = _functions(floats)[name]
            if not low <= len(args) <= high:
                raise ExpressionError(f"{name} does not take {len(args)} arguments")
            children = args
        case ast.Call(func=ast.Name(id=name)):
            known_functions = ", ".join((*_functions(floats), SIZEOF, IS_NULL))
            raise ExpressionError(f"function {name!r} is not one of {known_functions}")
        case _:
            raise ExpressionError(f"{type(node).__name__} is not allowed")
    for child in children:
        _check(child, floats, names, nodes, depth + 1)


def _functions(floats: bool) -> Mapping[str, tuple[int, int, Callable[..., Number]]]:
    return {**FUNCTIONS, **DECIMAL_FUNCTIONS} if floats else FUNCTIONS


def _bounded(value: Number, what: str = "a value") -> Number:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ExpressionError(f"{what} that is not finite")
    elif not -LIMIT <= value < 2 * LIMIT:
        raise ExpressionError(f"{what} beyond 64 bits")
    return value


def _shift(op: ast.operator, a: Number, b: Number) -> Number:
    if not (isinstance(a, int) and isinstance(b, int) and 0 <= b < 64):
        raise ExpressionError(f"cannot shift {a} by {b}")
    return a << b if isinstance(op, ast.LShift) else a >> b


def _named(name: str, env: Env) -> Number | str:
    """A dtype stands for itself, where nothing else has its name."""
    if name in env:
        return env[name]
    if name in DTYPES:
        return name
    known = ", ".join(sorted(env)) or "none"
    raise ExpressionError(f"unknown name {name!r} (known: {known})")


def _number(node: ast.expr, env: Env) -> Number:
    value = _evaluate(node, env)
    if isinstance(value, str):
        raise ExpressionError(
            f"{ast.unparse(node)} is a dtype and no number: compare it, or ask for its sizeof,"
        )
    return value


def _evaluate(node: ast.expr, env: Env) -> Number | str:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            return _named(name, env)
        case ast.BinOp(op=op, left=left, right=right):
            a, b = _number(left, env), _number(right, env)
            if isinstance(op, ast.LShift | ast.RShift):
                return _bounded(_shift(op, a, b))
            return _bounded(_divide_safely(_BINARY[type(op)][1], a, b))
        case ast.UnaryOp(op=op, operand=operand):
            value = _number(operand, env)
            if isinstance(op, ast.Not):
                return int(not value)
            return _bounded(-value if isinstance(op, ast.USub) else value)
        case ast.BoolOp(op=op, values=values):
            wanted = isinstance(op, ast.Or)
            return int(wanted == any(bool(_number(v, env)) == wanted for v in values))
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return _compared([_evaluate(one, env) for one in (left, *comparators)], ops)
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=of)]) if name in (SIZEOF, IS_NULL):
            return _asked(name, of, env)
        case ast.Call(func=ast.Name(id=name), args=args):
            values_ = [_number(arg, env) for arg in args]
            return _bounded(_divide_safely(_functions(True)[name][2], *values_))
        case _:
            raise ExpressionError(f"{type(node).__name__} is not allowed")


def _compared(operands: list[Number | str], ops: list[ast.cmpop]) -> int:
    for a, op, b in zip(operands, ops, operands[1:], strict=False):
        if isinstance(a, str) or isinstance(b, str):
            alike = isinstance(a, str) and isinstance(b, str)
            if not alike or not isinstance(op, ast.Eq | ast.NotEq):
                raise ExpressionError("a dtype is compared with another one, by == or !=,")
            if (a == b) != isinstance(op, ast.Eq):
                return 0
        elif not _COMPARE[type(op)](a, b):
            return 0
    return 1


def _asked(name: str, of: str, env: Env) -> Number:
    """sizeof and is_null."""
    if name == IS_NULL:
        if null_key(of) in env:
            return int(env[null_key(of)])
        raise ExpressionError(f"{of!r} is no optional argument of the task")
    dtype = _named(of, env)
    if not isinstance(dtype, str):
        raise ExpressionError(f"sizeof takes a dtype, not {of!r}")
    return DTYPES[dtype].itemsize


def _divide_safely(function: Callable[..., Number], *operands: Number) -> Number:
    try:
        return function(*operands)
    except ZeroDivisionError:
        raise ExpressionError("division by zero") from None
    except OverflowError:
        raise ExpressionError("a value that is not finite") from None
