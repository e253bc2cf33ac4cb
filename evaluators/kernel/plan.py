"""A launch plan in concrete numbers: what one kernel file does for one workload."""

from collections.abc import Mapping
from dataclasses import dataclass

Dim3 = tuple[int, int, int]
Defines = tuple[tuple[str, int | str], ...]
"""-D names and values in sorted order; one compilation each."""

Symbol = tuple[Defines, str, Dim3]
"""A compiled kernel: its defines, its name expression, the block that it is launched with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A kernel argument passed by value. type: one of dtypes.SCALARS; true is 1."""

    value: int | float
    type: str


@dataclass(frozen=True, slots=True)
class Null:
    """A null pointer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Struct:
    """A struct by value. fields: in their order, laid out as C does."""

    fields: tuple["Given", ...]


Given = str | Scalar | Null | Struct
"""What a launch gives for a parameter; a name is that of a task's argument or a scratch buffer."""


def buffers_in(given: Given) -> frozenset[str]:
    """Names of the buffers whose addresses it holds."""
    if isinstance(given, str):
        return frozenset({given})
    fields = given.fields if isinstance(given, Struct) else ()
    return frozenset().union(*map(buffers_in, fields))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchStep:
    """One kernel launch."""

    entry: str  # name expression with parameter values put in: "gemm<64, 64, 2>"
    grid: Dim3
    block: Dim3
    lds_bytes: int  # dynamic
    args: tuple[Given, ...]
    cooperative: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemsetStep:
    """Fill a whole buffer with one byte value."""

    buffer: str
    byte: int


Step = LaunchStep | MemsetStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything a backend needs to run a kernel on one workload: one "application"."""

    defines: Defines
    steps: tuple[Step, ...]
    prepare: tuple[Step, ...]  # untimed, over constant inputs, once
    scratch: Mapping[str, int]  # bytes by buffer name

    @property
    def launches(self) -> tuple[LaunchStep, ...]:
        return tuple(s for s in (*self.prepare, *self.steps) if isinstance(s, LaunchStep))

    @property
    def builds(self) -> frozenset[tuple[Defines, str, Dim3, int]]:
        """What a compiler, and what it tells of resources, depends on."""
        return frozenset((self.defines, s.entry, s.block, s.lds_bytes) for s in self.launches)

    @property
    def symbols(self) -> frozenset[Symbol]:
        """What must have been compiled to run it."""
        return frozenset((self.defines, s.entry, s.block) for s in self.launches)
