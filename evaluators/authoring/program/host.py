"""Host code read without running it: what a name stands for where kernels are launched."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from evaluators.authoring.program.cpp import Node, Program, node_text, parsed_expression, walk
from evaluators.authoring.program.items import (
    Item,
    arguments_of,
    calls,
    declared,
    flat,
    parameter_names,
    parameter_types,
    parts_of,
    template_names,
)

DEEPEST = 8


@dataclass(frozen=True)
class Declared:
    """A local or global variable: its type as written, what it is set to, where it begins to hold.

    values: of its initialiser, one or several: T x(a, b), T x{a, b}.
    """

    name: str
    type: str
    values: tuple[Node, ...]
    at: int
    braced: bool = False


@dataclass(frozen=True)
class Frame:
    """A place in a function that runs, and the frame that called it.

    call: the call's node in the caller, whose arguments are the function's parameters. inline:
    whether the function only returns an expression, so that its parameters are no names of sizes.
    """

    function: Item
    at: int
    caller: "Frame | None" = None
    call: Node | None = None
    inline: bool = False

    @property
    def key(self) -> str:
        """Of the call that made it, for names of variables that lie in it."""
        own = f"{self.function.name}@{self.call.start_byte if self.call is not None else ''}"
        return f"{self.caller.key}/{own}" if self.caller is not None else own


@dataclass(frozen=True)
class Macro:
    name: str
    parameters: tuple[str, ...] | None
    body: str
    start: int


class Host:
    """A program's names: its items, macros, aliases of types, and the calls between functions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.parts = parts_of(program)
        self.items = tuple(flat(self.parts))
        self.functions = {one.name: one for one in self.items if one.kind == "host"}
        self.device = {one.name: one for one in self.items if one.kind == "device"}
        self.kernels = {one.name: one for one in self.items if one.kind == "kernel"}
        self.macros = {one.name: one for one in _macros(program)}
        self.globals = {
            one.name: one
            for item in self.items
            if item.kind in ("constant", "variable", "other") and item.node.type == "declaration"
            for one in _of_declaration(program, item.node)
        }

    @cached_property
    def aliases(self) -> dict[str, str]:
        """typedef float real; using real = float; #define real float."""
        found: dict[str, str] = {}
        for item in self.items:
            node = item.node
            if node.type not in ("type_definition", "alias_declaration"):
                continue
            kind = node.child_by_field_name("type")
            if kind is not None and item.names:
                found[item.name] = node_text(kind)
        found |= self.template_words
        for macro in self.macros.values():
            if macro.parameters is None and re.fullmatch(r"[A-Za-z_][\w ]*", macro.body):
                found.setdefault(macro.name, macro.body)
        return found

    @cached_property
    def template_words(self) -> dict[str, str]:
        """What a host function's template parameters are where it is called: T is float."""
        found: dict[str, str] = {}
        callers = [one.node for one in self.functions.values()]
        for function in self.functions.values():
            names = template_names(function.node)
            for name, call in (pair for node in callers for pair in calls(node)):
                if names and name == function.name:
                    for own, text in zip(names, _given_types(call), strict=False):
                        found.setdefault(own, text)
        return found

    def frames(self, function: Item, at: int, depth: int = 0) -> list[Frame]:
        """One for each call of the function that the program holds; one without where none is."""
        found: list[Frame] = []
        if depth < DEEPEST:
            for caller in self.functions.values():
                if caller is function:
                    continue
                for name, call in calls(caller.node):
                    if name == function.name and _fits(call, function):
                        for above in self.frames(caller, call.start_byte, depth + 1):
                            found.append(Frame(function, at, above, call))
        return found or [Frame(function, at)]

    def enclosing(self, at: int) -> Item | None:
        """The host function whose text holds the place."""
        inside = (one for one in self.functions.values() if one.start <= at < one.end)
        found = next(inside, None)
        return found or next((i for i in self.items if i.start <= at < i.end), None)

    def local(self, frame: Frame, name: str) -> Declared | None:
        """The declaration of the name that holds at the frame's place, in its function."""
        body = frame.function.node.child_by_field_name("body")
        if body is None:
            return None
        before = [
            one
            for one in self._declarations(frame.function)
            if one.name == name and one.at < frame.at
        ]
        return before[-1] if before else None

    def parameter(self, frame: Frame, name: str) -> int:
        """Its place among the function's parameters; -1 where it is none."""
        listed = parameter_names(frame.function.node)
        return listed.index(name) if name in listed else -1

    def passed(self, frame: Frame, place: int) -> tuple[Node, Frame] | None:
        """What the caller passes there, and the caller's frame; None where nobody calls."""
        if frame.caller is None or frame.call is None:
            return None
        given = arguments_of(frame.call)
        return (given[place], frame.caller) if place < len(given) else None

    def type_of(self, frame: Frame, name: str) -> str:
        """As it is declared, const and * too; "" where it is not known."""
        if (found := self.local(frame, name)) is not None:
            return found.type
        types = parameter_types(frame.function.node)
        if name in types:
            return re.sub(rf"\b{re.escape(name)}\b\s*(\[\s*\])?$", r"\1", types[name]).replace(
                "[]", "*"
            )
        return self.globals[name].type if name in self.globals else ""

    def _declarations(self, function: Item) -> list[Declared]:
        return _function_declarations(self.program, function.node)

    def expanded(self, name: str, given: Sequence[str]) -> Node | None:
        """A macro's body as an expression, with what is given for its parameters."""
        macro = self.macros.get(name)
        if macro is None or macro.parameters is None or len(macro.parameters) != len(given):
            return None
        body = macro.body
        for own, text in zip(macro.parameters, given, strict=True):
            body = re.sub(rf"\b{re.escape(own)}\b", f"({text})".replace("\\", r"\\"), body)
        return parsed_expression(body)


_DECLARATIONS: dict[tuple[int, int], list[Declared]] = {}


def _function_declarations(program: Program, node: Node) -> list[Declared]:
    key = (id(program), node.start_byte)
    if key not in _DECLARATIONS:
        _DECLARATIONS[key] = [
            found
            for one in walk(node)
            if one.type == "declaration"
            for found in _of_declaration(program, one)
        ] + list(_assigned(node))
        _DECLARATIONS[key].sort(key=lambda one: one.at)
    return _DECLARATIONS[key]


def _assigned(function: Node) -> Iterator[Declared]:
    """What variables without initialiser are set to first: int n; n = 4;"""
    bare = {
        declared(d): node_text(one).split(declared(d))[0]
        for one in walk(function)
        if one.type == "declaration"
        for d in one.children_by_field_name("declarator")
        if d.type == "identifier"
    }
    for one in walk(function):
        if one.type != "assignment_expression":
            continue
        left, right = one.child_by_field_name("left"), one.child_by_field_name("right")
        operator = one.child_by_field_name("operator")
        if left is None or right is None or operator is None or node_text(operator) != "=":
            continue
        name = node_text(left)
        if left.type == "identifier" and name in bare:
            yield Declared(name, bare.pop(name), (right,), one.end_byte)


def _of_declaration(program: Program, node: Node) -> Iterator[Declared]:
    kind = node.child_by_field_name("type")
    head = program.data[node.start_byte : kind.end_byte].decode() if kind is not None else ""
    for one in node.children_by_field_name("declarator"):
        name = declared(one)
        inner = one.child_by_field_name("declarator") if one.type == "init_declarator" else one
        stars = _stars(inner)
        value = one.child_by_field_name("value")
        values: tuple[Node, ...] = ()
        braced = False
        if value is not None:
            several = value.type in ("argument_list", "initializer_list")
            braced = value.type == "initializer_list"
            values = tuple(value.named_children) if several else (value,)
        elif one.type == "function_declarator":  # `dim3 grid(a, b);` may be read as a prototype
            listed = one.child_by_field_name("parameters")
            kids = listed.named_children if listed is not None else []
            parsed = [parsed_expression(node_text(kid)) for kid in kids]
            values = tuple(one for one in parsed if one is not None)
        yield Declared(name, f"{head} {'*' * stars}".strip(), values, one.end_byte, braced)


def _given_types(call: Node) -> list[str]:
    """What stands between < and > of a call."""
    function = call.child_by_field_name("function")
    listed = function.child_by_field_name("arguments") if function is not None else None
    if listed is None or listed.type != "template_argument_list":
        return []
    return [node_text(one) for one in listed.named_children]


def _stars(node: Node | None) -> int:
    """Of a declarator's own: not those in what a variable is made from."""
    count = 0
    while node is not None and node.type == "pointer_declarator":
        count += 1
        node = node.child_by_field_name("declarator")
    return count


def _macros(program: Program) -> Iterator[Macro]:
    for one in program.directives:
        if one.word != "define":
            continue
        if found := re.match(r"(\w+)\(([^)]*)\)\s*(.*)", one.rest, re.DOTALL):
            names = tuple(name.strip() for name in found[2].split(",") if name.strip())
            yield Macro(found[1], names, found[3].strip(), one.start)
        elif found := re.match(r"(\w+)\s*(.*)", one.rest, re.DOTALL):
            yield Macro(found[1], None, found[2].strip(), one.start)


def _fits(call: Node, function: Item) -> bool:
    return len(arguments_of(call)) <= len(parameter_names(function.node))
