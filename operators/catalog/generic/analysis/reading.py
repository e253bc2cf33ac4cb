"""A kernel file as the edits read it: functions, launches, and the names in its syntax tree."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from evaluators.evaluation import Rejected
from evaluators.kernel.front_matter import Launch
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.kernel.syntax import blanked, parsed

Node = Any
"""tree_sitter.Node."""

MOST_BYTES = 1 << 16
DEEPEST = 120
"""Nested nodes; a longer or deeper text is left alone."""

_DIRECTIVES = re.compile(rb"^[ \t]*#(?:[^\n]*\\\r?\n)*[^\n]*", re.MULTILINE)
_RESTRICT = re.compile(rb"\b__restrict(?:__)?\b|\brestrict\b")
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:if|el|end|define|undef)", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
NAMES = frozenset({"identifier", "type_identifier"})
"""What may be a variable's name: (row) * C is parsed as a cast."""


class Unsure(Exception):
    """An edit has no place here, or none that is likely to be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """Of a function. type: what stands before the name, without it."""

    name: str
    type: str
    node: Node
    pointer: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    name: str
    node: Node
    body: Node
    parameters: tuple[Parameter, ...]

    @property
    def name_node(self) -> Node:
        return self._declarator.child_by_field_name("declarator")

    @property
    def _declarator(self) -> Node:
        declarator = self.node.child_by_field_name("declarator")
        while declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator")
        return declarator

    @property
    def end_of_parameters(self) -> int:
        """Where a further one may stand. Raises Unsure."""
        listed = self._declarator.child_by_field_name("parameters").named_children
        if not listed or listed[-1].type != "parameter_declaration":
            raise Unsure
        end: int = listed[-1].end_byte
        return end


class Reading:
    """One kernel file. Offsets are bytes of its code, what follows the front matter."""

    def __init__(self, kernel: KernelSource) -> None:
        self.kernel = kernel
        self.data = kernel.code.encode()
        if len(self.data) > MOST_BYTES:
            raise Unsure
        plain = _DIRECTIVES.sub(_spaces, self.data)
        plain = _RESTRICT.sub(_spaces, plain)
        blank, _ = blanked(plain)
        self.root = parsed(blank)
        _check_depth(self.root)

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode()

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """Those with a body, by name; of several with one name none."""
        found: dict[str, Function | None] = {}
        for node in walk(self.root):
            if node.type == "function_definition" and (one := self._function(node)):
                found[one.name] = None if one.name in found else one
        return {name: one for name, one in found.items() if one is not None}

    def _function(self, node: Node) -> Function | None:
        declarator, body = node.child_by_field_name("declarator"), node.child_by_field_name("body")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator")
        if declarator is None or body is None or body.type != "compound_statement":
            return None
        name = declarator.child_by_field_name("declarator")
        listed = declarator.child_by_field_name("parameters")
        parameters = [
            self._parameter(one)
            for one in listed.named_children
            if one.type in ("parameter_declaration", "optional_parameter_declaration")
        ]
        return Function(
            name=self.text(name),
            node=node,
            body=body,
            parameters=tuple(one for one in parameters if one is not None),
        )

    def _parameter(self, node: Node) -> Parameter | None:
        declarator = node.child_by_field_name("declarator")
        name = declared_name(declarator)
        if name is None:
            return None
        before = self.data[node.start_byte : name.start_byte].decode()
        return Parameter(
            name=self.text(name),
            type=" ".join(before.split()),
            node=name,
            pointer=declarator.type == "pointer_declarator",
        )

    @cached_property
    def launched(self) -> Mapping[str, list[Launch]]:
        """Launches outside of prepare, by the kernel's name without template arguments."""
        found: dict[str, list[Launch]] = {}
        for step in self.kernel.launches:
            if isinstance(step, Launch):
                found.setdefault(step.kernel.partition("<")[0].strip(), []).append(step)
        return found

    @property
    def kernels(self) -> list[Function]:
        """Launched functions that were parsed without an error, in the order of launches."""
        prepared = {
            step.kernel.partition("<")[0]
            for step in self.kernel.prepare
            if isinstance(step, Launch)
        }
        return [
            self.functions[name]
            for name in self.launched
            if name in self.functions
            and name not in prepared
            and not self.functions[name].node.has_error
        ]

    def plain(self, function: Function) -> bool:
        """Whether no directive decides what its text is."""
        return not _CONDITIONAL.search(self.text(function.node))

    @cached_property
    def all_words(self) -> frozenset[str]:
        """Of code and front matter."""
        return frozenset(_WORD.findall(self.kernel.text))

    def free_name(self, name: str) -> str:
        """The name, with a number where it is taken."""
        number, free = 1, name
        while free in self.all_words:
            number += 1
            free = f"{name}{number}"
        return free

    def replaced(self, start: int, end: int, edits: list[tuple[int, int, str]]) -> str:
        """Text between two offsets with parts replaced, which must not overlap."""
        parts, at = [], start
        for first, last, new in sorted(edits):
            parts += [self.data[at:first].decode(), new]
            at = last
        return "".join([*parts, self.data[at:end].decode()])

    def code(self, edits: list[tuple[int, int, str]]) -> str:
        """The whole code with parts replaced."""
        return self.replaced(0, len(self.data), edits)

    def rewritten(self, function: Function, edits: list[tuple[int, int, str]]) -> str:
        """The whole code with parts of a function replaced, whose lines are then indented anew."""
        start, end = function.body.start_byte, function.body.end_byte
        body = indented(self.replaced(start, end, [one for one in edits if one[0] >= start]))
        outside = [one for one in edits if one[0] < start]
        return self.replaced(0, len(self.data), [*outside, (start, end, body)])


@lru_cache(maxsize=256)
def reading(text: str) -> Reading | None:
    """None where the file can't be read, or is too long or too deep."""
    try:
        return Reading(parse_kernel(text))
    except (Rejected, Unsure):
        return None


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the text."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        stack.extend(reversed(one.children))


def variables(node: Node) -> Iterator[Node]:
    """Names in it that may be variables': neither fields nor parts of qualified names."""
    for one in walk(node):
        if one.type in NAMES and (one.parent is None or one.parent.type != "qualified_identifier"):
            yield one


def names_in(node: Node) -> set[str]:
    return {one.text.decode() for one in variables(node)}


def declared_name(declarator: Node | None) -> Node | None:
    """The identifier that a declarator declares."""
    while declarator is not None and declarator.type != "identifier":
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type in (
            "reference_declarator",
            "parenthesized_declarator",
        ):
            inner = declarator.named_children[0] if declarator.named_children else None
        declarator = inner
    return declarator


def inside(node: Node, *kinds: str) -> bool:
    """Whether it is one of these kinds, or holds one."""
    return any(one.type in kinds for one in walk(node))


def bare(node: Node) -> Node:
    """Without parentheses and casts around it."""
    while True:
        if node.type == "parenthesized_expression" and node.named_child_count == 1:
            node = node.named_children[0]
        elif node.type == "cast_expression":
            node = node.child_by_field_name("value")
        else:
            return node


def _spaces(found: "re.Match[bytes]") -> bytes:
    return re.sub(rb"[^\n]", b" ", found[0])


def _check_depth(root: Node) -> None:
    level = [root]
    for _ in range(DEEPEST):
        level = [kid for one in level for kid in one.children]
        if not level:
            return
    raise Unsure


def indented(text: str) -> str:
    """Code in braces, with four blanks for each that is open, and directives at the margin."""
    depth, rows = 0, []
    for line in text.splitlines():
        row = line.strip()
        if row.startswith("#"):
            rows.append(row)
            continue
        closing = len(row) - len(row.lstrip("})"))
        rows.append("    " * max(0, depth - bool(closing)) + row if row else "")
        depth += sum(row.count(one) for one in "{(") - sum(row.count(one) for one in "})")
    return "\n".join(rows)
