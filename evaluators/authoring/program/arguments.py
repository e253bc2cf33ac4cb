"""What a launch gives each parameter of its kernel: memory, a scalar, a struct."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from evaluators.authoring.program.buffers import Memory
from evaluators.authoring.program.elements import Element
from evaluators.authoring.program.reading import Dim
from evaluators.authoring.program.signature import Parameter, Signature
from evaluators.authoring.program.terms import Term


@dataclass(frozen=True)
class Pointer:
    memory: Memory
    parameter: Parameter
    element: Element


@dataclass(frozen=True)
class Scalar:
    """term: what is passed; Unknown where that is not known. name: the parameter's. lane: whether
    it is one of a vector's, whose name nobody chose."""

    name: str
    term: Term
    element: Element
    boolean: bool = False
    lane: bool = False


@dataclass(frozen=True)
class Struct:
    name: str
    type: str
    fields: "tuple[Argument, ...]"


@dataclass(frozen=True)
class Opaque:
    """What no front matter can pass, as far as was understood."""

    name: str
    type: str


Argument = Pointer | Scalar | Struct | Opaque


@dataclass
class Bound:
    """One launch. templates: the kernel's template arguments, a term or a C++ name each.

    repeat: the loop's variable and how often it runs, where the launch depends on it. unread: what
    was not understood, one sentence each. guessed: no launch was found, so grid and block are
    guesses.
    """

    signature: Signature
    templates: list[Term | str]
    grid: Dim
    block: Dim
    lds_bytes: Term
    arguments: list[Argument]
    when: Term | None = None
    repeat: tuple[str, Term] | None = None
    unread: list[str] = field(default_factory=list)
    guessed: bool = False
    cooperative: bool = False


def pointers(arguments: Sequence[Argument]) -> Iterator[Pointer]:
    for one in arguments:
        if isinstance(one, Pointer):
            yield one
        elif isinstance(one, Struct):
            yield from pointers(one.fields)


def scalars(arguments: Sequence[Argument]) -> Iterator[Scalar]:
    for one in arguments:
        if isinstance(one, Scalar):
            yield one
        elif isinstance(one, Struct):
            yield from scalars(one.fields)
