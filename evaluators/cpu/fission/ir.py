"""A kernel between its syntax tree and its regions: steps of one thread, and collective parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evaluators.cpu.fission.tree import Node

Mode = Literal["uniform", "agree", "mask"]
"""How collective control flow runs: uniform: the condition is the same for all threads by its
form; agree: evaluated for all threads and checked; mask: threads switch off one by one."""


@dataclass(slots=True, eq=False)
class Var:
    """A name declared in a kernel where threads may see it across regions."""

    name: str
    line: int
    decl: "Step | None" = None  # None: a parameter
    type_text: str = ""  # as in the source
    head: list[Node] = field(default_factory=list)  # of the type: what stands left,
    shape: list[Node] = field(default_factory=list)  # and the declarator without the name
    is_auto: bool = False
    is_reference: bool = False
    is_array: bool = False
    dims: int = 0  # of an array
    is_fixed: bool = False  # a type, a constexpr, LDS: stands at block level as written
    is_lds: bool = False  # in LDS: reading it is a load
    is_lambda: bool = False
    refers: "Var | None" = None  # of a reference: what it is a part of
    is_param: bool = False
    mentions: list[Node] = field(default_factory=list)
    assigns: "list[tuple[Step, Node | None]]" = field(default_factory=list)
    opaque: bool = False  # changed in a way that is not a plain assignment
    escapes: bool = False  # its address is kept somewhere
    masked_by: "Branch | Loop | Once | None" = None  # where it is declared
    inside: "tuple[Loop, ...]" = ()  # the loops whose bodies hold the declaration
    order: int = 0
    uniform: bool = False
    derived: bool = False  # recomputed from indices and arguments wherever it is used

    def type_id(self) -> str:
        return " ".join(map(str, (*self.head, *self.shape)))


@dataclass(slots=True, eq=False)
class Facts:
    """What an expression depends on. pure: no loads, calls or changes that could tell."""

    pure: bool
    thread: bool  # depends on the thread's index
    vars: frozenset[Var]


@dataclass(slots=True, eq=False)
class Step:
    """A statement that each thread runs on its own."""

    node: Node
    declares: Var | None = None
    reads: set[Var] = field(default_factory=set)
    writes: set[Var] = field(default_factory=set)
    init: Facts | None = None  # of the value of a declaration or plain assignment
    puts: tuple[str, Node | None] | None = None  # the slot that it fills, and the value shown
    clears: tuple[str, ...] = ()  # masks that are zero for threads that are off
    sums: tuple[str, ...] = ()
    atomic: bool = False
    target: Var | None = None  # of a plain assignment
    exits: "list[tuple[Node, Loop | Once | Switch | None]]" = field(default_factory=list)
    update_of: "Loop | None" = None  # part of a for loop's third expression
    declares_text: str | None = None  # the name that generated code declares
    generated: bool = False  # ours: a condition or a mask

    @property
    def line(self) -> int:
        return self.node.line


@dataclass(slots=True, eq=False)
class Fixed:
    """A declaration that stands at block level as written: types, constants, LDS."""

    node: Node
    lds: bool = False
    reads: set[Var] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Barrier:
    """Everything before it, by all threads, comes before everything after it."""

    line: int
    block: bool  # of the block, not only of a wavefront
    after: tuple[str, ...] = ()  # block-level statements: the votes are counted
    slots: tuple[tuple[str, str], ...] = ()  # (name, declaration) of what it needs


@dataclass(slots=True, eq=False)
class Exit:
    """break, continue or return in collective control flow. target None: the kernel."""

    node: Node
    kind: str
    target: "Loop | Once | Switch | None"
    step: Step | None = None


@dataclass(slots=True, eq=False)
class Branch:
    cond: Node
    then: "list[Item]"
    orelse: "list[Item]"
    line: int
    constexpr: bool
    whole: Step  # the statement as written, for when nothing in it is collective
    test: Step | None = None
    mode: Mode = "uniform"
    collective: bool = False


@dataclass(slots=True, eq=False)
class Loop:
    pre: "list[Item]"  # what the condition needs first
    cond: Node | None
    body: "list[Item]"
    update: "list[Item]"
    line: int
    test_last: bool
    rest: "Once"  # the last item of body, if any continue stands in it
    test: Step | None = None
    mode: Mode = "uniform"
    apart: bool = False  # threads leave it one by one
    has_continue: bool = False


@dataclass(slots=True, eq=False)
class Switch:
    cond: Node
    cases: "list[tuple[Node | None, list[Item]]]"  # None: default
    line: int
    test: Step | None = None
    mode: Mode = "uniform"


@dataclass(slots=True, eq=False)
class Scope:
    body: "list[Item]"


@dataclass(slots=True, eq=False)
class Once:
    """A device function put in place of its call, which return leaves; or the body of a loop from
    the first statement on that holds a continue, which leaves it.

    binds: its template parameters and parameters, whose values belong to the caller's scope;
    result: declares what return sets, for the caller; where: what it is, for people.
    """

    binds: "list[Step | Fixed]"
    result: Step | None
    body: "list[Item]"
    line: int
    label: str
    where: str
    mode: Mode = "uniform"
    apart: bool = False


@dataclass(slots=True, eq=False)
class Sweep:
    """for (T i = start; cond; i += stride) body, where threads start next to each other.

    Threads of a region may run in any order, so all of them may take each pass together: then
    they touch neighbouring elements. whole: the statement as written, when that is not possible.
    """

    whole: Step
    index: Step  # declares i as start + passed
    passed: str
    cond: Node
    stride: Node
    body: Step
    guarded: Step  # if (cond) body
    test: Step | None = None
    together: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """Where break, continue and return lead. once: None is the kernel itself."""

    loop: Loop | None = None
    switch: Switch | None = None  # the nearest, if nearer than the loop
    once: Once | None = None
    depth: int = 0  # of inlined calls
    groups: Mapping[str, str | None] = field(default_factory=dict)  # kinds of those in scope


Item = Step | Fixed | Barrier | Exit | Branch | Loop | Switch | Scope | Once | Sweep


def contains_barrier(items: "list[Item]") -> bool:
    """Whether a barrier of the block stands anywhere inside."""
    return any(_has_barrier(item) for item in items)


def _has_barrier(item: Item) -> bool:
    match item:
        case Barrier(block=block):
            return block
        case Branch():
            return contains_barrier(item.then) or contains_barrier(item.orelse)
        case Loop():
            return any(map(contains_barrier, (item.pre, item.body, item.update)))
        case Switch():
            return any(contains_barrier(body) for _, body in item.cases)
        case Scope():
            return contains_barrier(item.body)
        case Once():
            return contains_barrier(item.body)
        case _:
            return False


def is_collective(items: "list[Item]") -> bool:
    """Whether anything inside is more than steps of single threads."""
    for item in items:
        match item:
            case Barrier() | Loop() | Switch() | Once():
                return True
            case Branch() if is_collective(item.then) or is_collective(item.orelse):
                return True
            case Scope() if is_collective(item.body):
                return True
            case _:
                continue
    return False
