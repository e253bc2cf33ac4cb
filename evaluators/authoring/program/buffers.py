"""Device memory that a program allocates: of which type, how many elements, what is copied."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluators.authoring.program import terms
from evaluators.authoring.program.cpp import Node, node_text, walk
from evaluators.authoring.program.elements import bare_type, dtype_bytes, element
from evaluators.authoring.program.host import DEEPEST, Frame, Host
from evaluators.authoring.program.items import arguments_of, calls
from evaluators.authoring.program.reading import Reader
from evaluators.authoring.program.terms import Num, SizeOf, Term, Unknown, op

_ALLOCATES = re.compile(r"(hip|cuda)(Ext)?(Host)?Malloc(Managed|Async|Pitch|Host|WithFlags)?")
_COPIES = re.compile(r"(hip|cuda)Memcpy(Async|WithStream)?|(hip|cuda)MemcpyHtoD(Async)?")
_FILLS = re.compile(r"(hip|cuda)Memset(D8|D32)?(Async)?")
_UNWRAPPING = ("raw_pointer_cast", "reinterpret_cast", "static_cast", "const_cast", "addressof")
_HOLDERS = re.compile(r"\w+\s*<(.+)>")


@dataclass
class Memory:
    """One buffer on the device. elements: how many of its type, or Unknown.

    given, taken: whether the host copies to it, and from it. byte: what it is filled with before.
    """

    key: str
    name: str
    type: str = ""
    elements: Term | None = None
    given: bool = False
    taken: bool = False
    byte: int | None = None
    offset: bool = False


class Buffers:
    """Every buffer of a program, by the variable that holds it."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.host = reader, reader.host
        self.found: dict[str, Memory] = {}
        for function in self.host.functions.values():
            for name, call in calls(function.node):
                for frame in self.host.frames(function, call.start_byte):
                    self._call(name, arguments_of(call), frame, call)

    @property
    def copies(self) -> bool:
        """Whether the program says what goes to the device and what comes back."""
        return any(one.given or one.taken for one in self.found.values())

    def of(self, node: Node, frame: Frame) -> Memory:
        """What a pointer that a kernel is given points to."""
        key, name, where = self.root(node, frame)
        if key not in self.found:
            self.found[key] = Memory(key, name)
        memory = self.found[key]
        if memory.elements is None:
            self._held(memory, name, where)
        return memory

    def root(self, node: Node, frame: Frame, depth: int = 0) -> tuple[str, str, Frame]:
        """The variable that an expression of a pointer goes back to: its key, name and frame."""
        while True:
            inner = self._inside(node)
            if inner is None:
                break
            node = inner
        name = node_text(node).split("::")[-1]
        if depth > DEEPEST:
            return f"{frame.key}:{name}", name, frame
        local, place = self.host.local(frame, name), self.host.parameter(frame, name)
        if local is None and place >= 0 and (up := self.host.passed(frame, place)) is not None:
            return self.root(*up, depth + 1)
        if local is not None and "*" in local.type and local.values:
            value = local.values[0]
            made = self._returned(value, frame)
            if made is not None:
                return self.root(*made, depth + 1)
            if self._points(value):
                return self.root(value, frame, depth + 1)
        if local is None and place < 0 and name in self.host.globals:
            return f":{name}", name, frame
        return f"{frame.key}:{name}", name, frame

    def _inside(self, node: Node) -> Node | None:
        """Without a cast, an address, an offset, .get(): the next step to the variable."""
        kids = node.named_children
        match node.type:
            case "parenthesized_expression" | "pointer_expression" | "subscript_expression":
                return kids[0] if kids else None
            case "cast_expression":
                return node.child_by_field_name("value")
            case "binary_expression":
                return node.child_by_field_name("left")
            case "call_expression":
                function = node.child_by_field_name("function")
                if function is not None and function.type == "field_expression":
                    return function.child_by_field_name("argument")
                name = node_text(function).split("<")[0].split("::")[-1] if function else ""
                given = arguments_of(node)
                return given[0] if name in _UNWRAPPING and given else None
        return None

    def _points(self, value: Node) -> bool:
        """Whether an initialiser is another pointer, not memory of its own or null."""
        if value.type in ("null", "number_literal", "new_expression", "initializer_list"):
            return False
        return not re.search(r"\b(nullptr|NULL|m?alloc|calloc|new)\b", node_text(value))

    def _returned(self, value: Node, frame: Frame) -> tuple[Node, Frame] | None:
        """What a host function that is called returns, where that is a variable of its own."""
        at = value
        while at.type == "cast_expression" and at.child_by_field_name("value") is not None:
            at = at.child_by_field_name("value") or at
        if at.type != "call_expression":
            return None
        name = node_text(at.child_by_field_name("function") or at).split("<")[0].split("::")[-1]
        function = self.host.functions.get(name)
        if function is None:
            return None
        for one in walk(function.node):
            if one.type == "return_statement" and one.named_children:
                return one.named_children[0], Frame(function, one.start_byte, frame, at)
        return None

    def _call(self, name: str, given: list[Node], frame: Frame, call: Node) -> None:
        if _ALLOCATES.fullmatch(name) and len(given) >= 2:
            memory = self._memory(given[0], frame)
            memory.elements = self._elements(given[1], frame, memory)
        elif _COPIES.fullmatch(name) and len(given) >= 3:
            kind = node_text(given[3]) if len(given) > 3 else "HostToDevice"
            if "HostToDevice" in kind or "Default" in kind:
                self._memory(given[0], frame).given = True
            if "DeviceToHost" in kind or "Default" in kind:
                self._memory(given[1], frame).taken = True
        elif _FILLS.fullmatch(name) and len(given) >= 3:
            byte = self.reader.term(given[1], frame)
            if isinstance(byte, Num):
                self._memory(given[0], frame).byte = int(byte.value) & 0xFF

    def _memory(self, node: Node, frame: Frame) -> Memory:
        key, name, where = self.root(node, frame)
        memory = self.found.setdefault(key, Memory(key, name))
        if not memory.type:
            memory.type = bare_type(self._type_of(name, where))
        return memory

    def _type_of(self, name: str, frame: Frame) -> str:
        """Of a variable, or of a struct's field: data.x, data->x."""
        base, _, own = re.sub(r"->", ".", name).rpartition(".")
        if not base:
            return self.host.type_of(frame, name)
        kind = bare_type(self.host.type_of(frame, base.split(".")[0]))
        return next((of for of, field in fields_of(self.host, kind) if field == own), "")

    def _elements(self, size: Node, frame: Frame, memory: Memory) -> Term:
        """Of the memory's type, from a number of bytes."""
        nbytes = self.reader.term(size, frame)
        own = element(memory.type, self.host.aliases)
        parts = terms.factors(nbytes)
        for i, part in enumerate(parts):
            if isinstance(part, SizeOf):
                of = element(part.type, self.host.aliases)
                if not of.dtype and not own.dtype and part.type != memory.type:
                    continue
                rest = terms.product([*parts[:i], *parts[i + 1 :]])
                return op("*", rest, Num(of.count)) if of.count > 1 else rest
        if not own.dtype:
            return Unknown(node_text(size))
        bytes_each = dtype_bytes(own.dtype)
        for i, part in enumerate(parts):
            if (
                isinstance(part, Num)
                and isinstance(part.value, int)
                and not part.value % bytes_each
            ):
                return terms.product([*parts[:i], Num(part.value // bytes_each), *parts[i + 1 :]])
        return nbytes if bytes_each == 1 else Unknown(node_text(size))

    def _held(self, memory: Memory, name: str, frame: Frame) -> None:
        """Memory of a class that allocates: Buffer<float> x(n)."""
        found = self.host.local(frame, name) or self.host.globals.get(name)
        kind = self._type_of(name, frame)
        memory.type = memory.type or bare_type(kind)
        if found is None or not found.values or "*" in found.type:
            return
        if (of := _HOLDERS.search(kind)) is not None:
            memory.type = bare_type(of[1].split(",")[0])
        size = self.reader.term(found.values[0], frame)
        if isinstance(size, Unknown):
            size = self._size_of(found.values[0], frame)
        memory.elements = size

    def _size_of(self, node: Node, frame: Frame) -> Term:
        """Of a host vector that a buffer is made from."""
        from evaluators.authoring.program.cpp import parsed_expression

        made = parsed_expression(f"{node_text(node)}.size()")
        return self.reader.term(made, frame) if made is not None else Unknown(node_text(node))


def fields_of(host: Host, type_name: str) -> Iterator[tuple[str, str]]:
    """Type and name of each field of a struct, in order."""
    for item in host.items:
        if item.kind != "type" or type_name not in item.names:
            continue
        for one in walk(item.node):
            if one.type == "field_declaration":
                kind = one.child_by_field_name("type")
                for declarator in one.children_by_field_name("declarator"):
                    stars = "*" * node_text(declarator).count("*")
                    name = node_text(declarator).strip("* ")
                    if kind is not None and "(" not in name:
                        yield node_text(kind) + stars, name
