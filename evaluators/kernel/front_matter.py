"""Where front matter stands, and what it says, typed and still symbolic: Launch, FrontMatter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from evaluators.evaluation import Rejected, Status
from evaluators.expression import Expression
from evaluators.kernel.normalise import check_readable, count_lines
from evaluators.kernel.plan import Null
from evaluators.lined_yaml import YamlError, load
from evaluators.spelling import shortened, storable

OPENING = "/*---"
CLOSING = "---*/"
MAX_CHARACTERS = 256 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueArg:
    """A scalar computed from an expression. type: one of dtypes.SCALARS, or a dtype parameter."""

    value: Expression
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StructArg:
    """A struct by value."""

    fields: tuple["Arg", ...]


Arg = str | ValueArg | StructArg | Null


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    kernel: str
    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    args: tuple[Arg, ...]
    lds_bytes: Expression
    when: Expression
    repeat: tuple[str, Expression] | None
    cooperative: bool
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Memset:
    buffer: str
    byte: int
    when: Expression
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    when: Expression
    params: Mapping[str, int]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What stands in the front matter. Expressions are parsed, not yet evaluated."""

    launches: tuple[Launch | Memset, ...]
    prepare: tuple[Launch | Memset, ...]
    scratch: Mapping[str, Expression]
    params: Mapping[str, int]
    space: Mapping[str, tuple[int, ...]]
    constraints: tuple[Expression, ...]
    variants: tuple[Variant, ...]
    specialize: tuple[str, ...]
    options: tuple[str, ...]
    backends: tuple[str, ...]  # that the file is for; none: all
    lines: Mapping[str, int]  # of the top-level keys


def invalid(reason: str, line: int | None = None) -> Rejected:
    return Rejected(Status.INVALID, shortened(storable(reason)), line=line)


class Place(NamedTuple):
    """Where a file's YAML stands: text[start:end], from its line on."""

    start: int
    end: int
    line: int


def find_front_matter(text: str) -> Place:
    """Raises Rejected(INVALID): none, one that is not closed, text that can't be read."""
    if len(text) > MAX_CHARACTERS:
        raise invalid(f"the file is longer than {MAX_CHARACTERS} characters", 1)
    check_readable(text)
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    if not text.startswith(OPENING, start):
        raise invalid(f"a kernel file begins with its front matter, {OPENING} ... {CLOSING}", 1)
    line = count_lines(text[:start]) + 1
    end = text.find(CLOSING, start)
    if end < 0:
        raise invalid(f"the front matter is not closed by {CLOSING}", line)
    begin = start + len(OPENING)
    if "*/" in text[begin:end]:
        line += count_lines(text[begin : text.index("*/", begin)])
        raise invalid("'*/' inside the front matter would end the comment", line)
    return Place(begin, end, line)


def load_front_matter(text: str, place: Place) -> Any:
    """The YAML as lined_yaml gives it. Raises Rejected(INVALID)."""
    try:
        return load(text[place.start : place.end])
    except YamlError as error:
        raise invalid(error.reason, error.line + place.line - 1) from None
