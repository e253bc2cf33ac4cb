"""What the templates of rows and of single elements are given."""

from dataclasses import dataclass

NEUTRAL = {"sum": "0", "prod": "1", "max": "-INFINITY", "min": "INFINITY", "any": "0", "all": "1"}
NEUTRAL |= {"argmax": "-INFINITY", "argmin": "INFINITY"}
PLACES = {"argmax": ">", "argmin": "<"}
JOINS = {
    "sum": "a + b",
    "prod": "a * b",
    "max": "a > b ? a : b",
    "min": "a < b ? a : b",
    "any": "a != 0 || b != 0",
    "all": "a != 0 && b != 0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """An element that is read at each step along a row. contiguous: with neighbours beside it.

    element: its text, at `c`. start: where contiguous ones of a row begin.
    """

    name: str
    element: str
    contiguous: bool
    base: str = ""
    kept: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """One reduction: of what (value), how, and what its result is called."""

    name: str
    how: str
    value: str

    @property
    def sign(self) -> str:
        """Of the place of an extreme: what a better value is to another; else empty."""
        return PLACES.get(self.how, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """An element of an output at `c`. base: where LANES of them begin, at `c0`; empty where they
    don't lie beside each other, or are no floating-point numbers."""

    name: str
    element: str
    value: str  # among LANES of them
    single: str  # alone, in the output's type
    base: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One loop along a row. before: statements once a row; streams: what it reads."""

    before: tuple[str, ...]
    extent: str
    streams: tuple[Stream, ...]
    lines: tuple[str, ...]
    sums: tuple[Sum, ...] = ()
    stores: tuple["Store", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKernel:
    """What the template needs."""

    args: str
    parameters: str
    headers: list[str]
    real: str
    rows: str  # how many, for the front matter
    rows_in_c: str
    decode: tuple[str, ...]
    passes: tuple[Pass, ...]
    after: tuple[str, ...]
    singles: tuple[tuple[str, str], ...]  # element of an output and its value, once a row
    dtypes: str
    passed: str  # the arguments' names
    plan_extent: str  # of the last pass, for the front matter
    streams: tuple[Stream, ...] = ()
    aligned: tuple[str, ...] = ()

    @property
    def divides(self) -> bool:
        """Whether elements are divided by a value of the row."""
        return any("QUOTIENT" in line for step in self.passes for line in step.lines)

    @property
    def joins(self) -> dict[str, str]:
        """Of the reductions that there are, by name."""
        used = {one.how for step in self.passes for one in step.sums}
        return {how: text for how, text in JOINS.items() if how in used}

    @property
    def places(self) -> dict[str, str]:
        """The same of places of extremes."""
        used = {one.how for step in self.passes for one in step.sums}
        return {how: sign for how, sign in PLACES.items() if how in used}
