"""What host code computes, as terms over its sizes; and terms in the words of a launch plan."""

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Number = int | float


@dataclass(frozen=True, slots=True)
class Num:
    value: Number


@dataclass(frozen=True, slots=True)
class Sym:
    """A size, attribute or constant of the program, by its name there."""

    name: str


@dataclass(frozen=True, slots=True)
class SizeOf:
    """Bytes of a C++ type."""

    type: str


@dataclass(frozen=True, slots=True)
class Op:
    """sign: + - * / // % << >> < <= > >= == != and or, neg, not, or a function's name."""

    sign: str
    args: "tuple[Term, ...]"


@dataclass(frozen=True, slots=True)
class Unknown:
    """What was not understood, as it stands in the program."""

    text: str


Term = Num | Sym | SizeOf | Op | Unknown

ONE = Num(1)
_FOLDED: Mapping[str, Callable[[Number, Number], Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "min": min,
    "max": max,
    "ceil_div": lambda a, b: -(-a // b),
}
_SHIFTS: Mapping[str, Callable[[int, int], int]] = {"<<": operator.lshift, ">>": operator.rshift}
_BINDING = {"or": 1, "and": 2, "not": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4, "!=": 4}
_BINDING |= {"<<": 5, ">>": 5, "+": 6, "-": 6, "*": 7, "/": 7, "//": 7, "%": 7, "neg": 8}
FUNCTIONS = ("min", "max", "ceil_div", "sqrt")


def op(sign: str, *args: Term) -> Term:
    """The operation, with numbers folded and (a + b - 1) / b told as ceil_div(a, b)."""
    numbers = [one.value for one in args if isinstance(one, Num)]
    if len(numbers) == len(args):
        folded = _folded(sign, numbers)
        if folded is not None:
            return Num(folded)
    if sign == "//" and (rounded := _rounded_up(*args)) is not None:
        return rounded
    if sign in ("*", "//", "/") and args[1] == ONE:
        return args[0]
    if (sign == "*" and args[0] == ONE) or (sign == "+" and args[0] == Num(0)):
        return args[1]
    if sign in ("+", "-") and args[1] == Num(0):
        return args[0]
    return Op(sign, args)


def _folded(sign: str, numbers: list[Number]) -> Number | None:
    if sign == "neg":
        return -numbers[0]
    if sign == "not":
        return int(not numbers[0])
    if sign == "sqrt":
        return math.sqrt(numbers[0]) if numbers[0] >= 0 else None
    if len(numbers) != 2 or (sign in ("/", "//", "%", "ceil_div") and not numbers[1]):
        return None
    if sign in _SHIFTS:
        a, b = numbers
        return _SHIFTS[sign](a, b) if isinstance(a, int) and isinstance(b, int) else None
    if sign not in _FOLDED:
        return None
    made = _FOLDED[sign](*numbers)
    return int(made) if isinstance(made, bool) else made


def _rounded_up(above: Term, below: Term) -> Term | None:
    parts = [*_summands(above)]
    kept: list[Term]
    if isinstance(below, Num):
        extra = [one for one in parts if isinstance(one, Num)]
        if sum(one.value for one in extra) != below.value - 1 or below.value < 2:
            return None
        kept = [one for one in parts if not isinstance(one, Num)]
    else:
        kept = [*parts]
        for gone in (below, Num(-1)):
            if gone not in kept:
                return None
            kept.remove(gone)
    if not kept:
        return None
    total: Term = kept[0]
    for one in kept[1:]:
        total = op("+", total, one)
    return Op("ceil_div", (total, below))


def _summands(term: Term) -> Iterator[Term]:
    if isinstance(term, Op) and term.sign == "+":
        for part in term.args:
            yield from _summands(part)
    elif isinstance(term, Op) and term.sign == "-":
        yield from _summands(term.args[0])
        taken = term.args[1]
        yield Num(-taken.value) if isinstance(taken, Num) else Op("neg", (taken,))
    else:
        yield term


def factors(term: Term) -> list[Term]:
    """Of a product, in order; a term alone is its own."""
    if isinstance(term, Op) and term.sign == "*":
        return [one for part in term.args for one in factors(part)]
    return [term]


def product(parts: list[Term]) -> Term:
    made: Term = ONE
    for part in parts:
        made = op("*", made, part)
    return made


def names(term: Term) -> Iterator[str]:
    """Of the symbols in it, in order."""
    if isinstance(term, Sym):
        yield term.name
    elif isinstance(term, Op):
        for part in term.args:
            yield from names(part)


def unknown(term: Term) -> str:
    """The first part that was not understood; empty where all was."""
    if isinstance(term, Unknown):
        return term.text
    if isinstance(term, SizeOf):
        return f"sizeof({term.type})"
    if isinstance(term, Op):
        return next((text for part in term.args if (text := unknown(part))), "")
    return ""


def replaced(term: Term, change: Callable[[Term], Term]) -> Term:
    """With every leaf changed, and folded again."""
    if isinstance(term, Op):
        return op(term.sign, *(replaced(part, change) for part in term.args))
    return change(term)


def value(term: Term, known: Mapping[str, Number]) -> Number | None:
    """What it is where the symbols have these values; None where some has none."""
    made = replaced(
        term, lambda t: Num(known[t.name]) if isinstance(t, Sym) and t.name in known else t
    )
    return made.value if isinstance(made, Num) else None


def written(term: Term, binding: int = 0) -> str:
    """In the words of front matter and tasks. Raises ValueError for what was not understood."""
    match term:
        case Num(value=number):
            return str(number) if number >= 0 or not binding else f"({number})"
        case Sym(name=name):
            return name
        case Op(sign=sign, args=args) if sign in FUNCTIONS:
            return f"{sign}({', '.join(written(part) for part in args)})"
        case Op(sign="neg" | "not" as sign, args=(part,)):
            own = _BINDING[sign]
            made = f"{'-' if sign == 'neg' else 'not '}{written(part, own)}"
            return f"({made})" if own < binding else made
        case Op(sign=sign, args=(left, right)) if sign in _BINDING:
            own = _BINDING[sign]
            made = f"{written(left, own)} {sign} {written(right, own + 1)}"
            return f"({made})" if own < binding else made
        case _:
            raise ValueError(unknown(term))
