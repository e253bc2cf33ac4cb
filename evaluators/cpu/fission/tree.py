"""A kernel's syntax tree of our own: nodes that can be copied, replaced and written out again."""

import re
from collections.abc import Iterator
from typing import Any

from evaluators.cpu.fission.names import BOUNDS, MARKERS, SHARED
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.syntax import blanked, parsed
from evaluators.kernel.tokens import KERNEL_FILE

_MARKER = re.compile(rb'^[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)(?:[ \t]+"([^"]*)")?')
_RESTRICT = re.compile(rb"\b__restrict\b")  # behind const the parser takes it for a name
_ATOMS = frozenset({"string_literal", "char_literal", "raw_string_literal", "number_literal"})
TYPES = frozenset({"struct_specifier", "enum_specifier", "union_specifier", "class_specifier"})
LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})
UNKNOWN = -(1 << 40)  # the line that an output stands on, at first
_SKIPPED = frozenset({"comment", "preproc_call"})


class Node:
    """One node. A leaf has text and no kids; field is its role in the parent ('condition')."""

    __slots__ = ("field", "kids", "kind", "line", "text", "var")

    def __init__(
        self, kind: str, line: int, text: str = "", kids: "list[Node] | None" = None
    ) -> None:
        self.kind = kind
        self.line = line
        self.text = text
        self.kids: list[Node] = kids if kids is not None else []
        self.field: str | None = None
        self.var: Any = None  # the ir.Var that a name means, once resolved

    def get(self, field: str) -> "Node | None":
        for kid in self.kids:
            if kid.field == field:
                return kid
        return None

    def need(self, field: str) -> "Node":
        found = self.get(field)
        if found is None:
            raise unsupported(f"a {self.kind.replace('_', ' ')} of this form", self.line)
        return found

    def all(self, field: str) -> "list[Node]":
        return [kid for kid in self.kids if kid.field == field]

    def has(self, kind: str) -> bool:
        return any(kid.kind == kind for kid in self.kids)

    def has_leaf(self, text: str) -> bool:
        return any(one.text == text for one in self.leaves())

    def leaves(self) -> "Iterator[Node]":
        stack = [self]
        while stack:
            node = stack.pop()
            if node.kids:
                stack.extend(reversed(node.kids))
            elif node.text:
                yield node

    def walk(self) -> "Iterator[Node]":
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.kids))

    def copy(self) -> "Node":
        twin = Node(self.kind, self.line, self.text, [kid.copy() for kid in self.kids])
        twin.field = self.field
        return twin

    def become(self, other: "Node") -> None:
        """Take the other's content, keep the place."""
        self.kind, self.line, self.text, self.kids = other.kind, other.line, other.text, other.kids

    def __str__(self) -> str:
        return " ".join(leaf.text for leaf in self.leaves())


def leaf(text: str, line: int, kind: str = "generated") -> Node:
    return Node(kind, line, text)


def name(text: str, line: int) -> Node:
    return Node("identifier", line, text)


def group(kind: str, line: int, *parts: "Node | str") -> Node:
    """A node made of text pieces and nodes."""
    kids = [leaf(part, line) if isinstance(part, str) else part for part in parts]
    return Node(kind, line, "", kids)


def unsupported(reason: str, line: int) -> Rejected:
    return Rejected(Status.UNSUPPORTED, f"cpu-fission can't run {reason}", line=line)


def at_line(line: int, file: str = KERNEL_FILE) -> str:
    """What follows stands there, for all that a compiler says of it."""
    return f'\n#line {line} "{file}"\n'


def render(node: Node, out: "list[str]", at: "list[int]") -> None:
    """Append the node's text; at[0] is the source line that the output stands on."""
    for one in node.leaves():
        if one.line != at[0] and one.line > 0:
            if 0 < one.line - at[0] < 6:
                out.append("\n" * (one.line - at[0]))
            else:
                out.append(at_line(one.line))
            at[0] = one.line
        out.append(one.text)
        out.append(" ")
        at[0] += one.text.count("\n")


class Source:
    """The parsed text: its tree, and where the markers stood that a C++ parser does not know."""

    def __init__(self, text: str) -> None:
        data = _RESTRICT.sub(b"__restrict__", text.encode())
        self.lines = _line_numbers(data)
        blank, words = blanked(data)
        self.markers = [one for one in words if one[1] in MARKERS or one[1] in (SHARED, BOUNDS)]
        self.data = data
        self.root = self._convert(parsed(blank))

    def marked(self, start: int, end: int, word: str) -> bool:
        return any(start <= at < end and found == word for at, found in self.markers)

    def _convert(self, root: Any) -> Node:
        lines = self.lines
        data = self.data

        def convert(cursor: Any) -> Spanned:
            raw = cursor.node
            kind = raw.type
            node = Spanned(kind, lines[raw.start_point[0]])
            node.start, node.end = raw.start_byte, raw.end_byte
            node.field = cursor.field_name
            if raw.is_missing or kind == "ERROR":
                node.kind = "ERROR"
            if kind in _ATOMS or not cursor.goto_first_child():
                node.text = data[raw.start_byte : raw.end_byte].decode()
                return node
            last = raw.start_byte
            while True:
                if cursor.node.type not in _SKIPPED:
                    kid = convert(cursor)
                    if kid.kind == "declaration" and self.marked(last, kid.end, SHARED):
                        kid.kind = "shared_declaration"
                    node.kids.append(kid)
                    last = kid.end
                if not cursor.goto_next_sibling():
                    break
            cursor.goto_parent()
            return node

        return convert(root.walk())


def parsed_arguments(listed: Node) -> Node | None:
    """What a parser took for parameters, as arguments of a call; None where it can be none."""
    root = Source(f"void f() {{ g{listed}; }}").root
    found = next((one for one in root.walk() if one.kind == "argument_list"), None)
    if found is None or any(one.kind == "ERROR" for one in root.walk()):
        return None
    if any(one.kind == "primitive_type" for one in found.walk()):
        return None
    arguments = found.copy()
    for one in arguments.walk():
        one.line = listed.line
    return arguments


class Spanned(Node):
    """A node that still knows its place in the text: byte offsets."""

    __slots__ = ("end", "start")

    start: int
    end: int


def _line_numbers(data: bytes) -> list[int]:
    """For each physical line, the line of the kernel's file that it came from."""
    numbers = []
    line = 1
    for row in data.split(b"\n"):
        found = _MARKER.match(row)
        numbers.append(line)
        line = int(found[1]) if found else line + 1
    return numbers


def check_parsed(node: Node) -> None:
    for one in node.walk():
        if one.kind == "ERROR":
            raise unsupported(f"what it can't parse: {str(one)[:40]!r}", one.line)
        if one.kind in ("asm_statement", "gnu_asm_expression", "try_statement"):
            raise unsupported("asm or exceptions", one.line)


def callee(call: Node) -> str:
    """The called function's own name, without template arguments and namespaces."""
    function = call.get("function")
    if function is None:
        return ""
    if function.kind == "qualified_identifier":
        function = function.kids[-1]
    if function.kind == "template_function":
        function = function.need("name")
    return function.text
