"""What front matter says, typed and still symbolic: Launch, Memset, Variant, FrontMatter."""

from collections.abc import Mapping
from dataclasses import dataclass

from evaluators.evaluation import Rejected, Status
from evaluators.expression import Expression
from evaluators.kernel.plan import ScalarType
from evaluators.spelling import shortened, storable


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueArg:
    """A scalar computed from an expression."""

    value: Expression
    type: ScalarType


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    kernel: str
    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    args: tuple[str | ValueArg, ...]
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
    lines: Mapping[str, int]  # of the top-level keys


def invalid(reason: str, line: int | None = None) -> Rejected:
    return Rejected(Status.INVALID, shortened(storable(reason)), line=line)
