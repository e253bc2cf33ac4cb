"""A drafted task, before it is written: its arrays, its steps, and what a person must say."""

from dataclasses import dataclass, field

from evaluators.authoring.drafting.sizes import Sizes
from evaluators.authoring.program.arguments import Bound
from evaluators.authoring.program.terms import Term


@dataclass
class Array:
    """An argument of the task. say: what whoever drafts it must tell; "" for nothing."""

    name: str
    dtype: str
    shape: list[Term]
    role: str
    say: str = ""
    below: str = ""
    """Of integers: the first number that they may not reach."""
    starts: bool = False
    """Whether it holds where ragged rows begin, in order, up to below."""


@dataclass
class Step:
    """A launch, or a memset of a buffer. arguments: as front matter has them, YAML flow text."""

    kernel: str = ""
    bound: Bound | None = None
    arguments: list[str] = field(default_factory=list)
    buffer: str = ""
    byte: int = 0


@dataclass
class Draft:
    """says: what is left for a person, one sentence each. understood: what was found."""

    source: str
    sizes: Sizes
    arrays: list[Array]
    scratch: dict[str, str]
    steps: list[Step]
    code: str
    kernels: list[str]
    space: dict[str, list[int]]
    says: list[str]
    understood: list[str]
    body: dict[str, str] = field(default_factory=dict)
    """By output what it is in numpy, where the kernel was translated."""

    @property
    def outputs(self) -> list[Array]:
        return [one for one in self.arrays if one.role in ("out", "inout")]
