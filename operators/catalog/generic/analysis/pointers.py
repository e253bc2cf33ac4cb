"""Pointers: what memory a kernel is given, and each place where it is read or written."""

import re
from dataclasses import dataclass

from operators.catalog.generic.analysis.locals import Local, Locals
from operators.catalog.generic.analysis.reading import (
    Function,
    Node,
    Parameter,
    Reading,
    bare,
    variables,
)

_QUALIFIERS = re.compile(r"\b(?:const|__restrict__|__restrict|restrict)\b|\*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """An element, `pointer[index]` or `__ldg(&pointer[index])`. root: the parameter that it
    belongs to; pointer: the key of that, or of a local pointer into it."""

    node: Node
    root: str
    pointer: str
    index: Node
    written: bool


class Pointers:
    """Of one kernel's parameters. strays: those of which something else is done than that
    elements are read and written: they are passed on, moved, cast, or named by a macro."""

    def __init__(self, reading: Reading, function: Function, locals: Locals) -> None:
        self._reading, self._locals = reading, locals
        self.parameters = {
            one.name: one for one in function.parameters if one.pointer and _is_plain(one)
        }
        self.local = {
            local.key: root
            for local in locals.declared.values()
            if (root := self._root_of(local)) is not None
        }
        self.accesses: list[Access] = []
        self.strays: set[str] = set()
        self._pointers = {name: name for name in self.parameters} | self.local
        for node in variables(function.body):
            key = locals.key(node)
            if key in self._pointers:
                self._use(node, key)
        macros = " ".join(re.findall(r"^[ \t]*#.*(?:\\\n.*)*", reading.kernel.code, re.M))
        self.strays |= {name for name in self._pointers if re.search(rf"\b{name}\b", macros)}

    def type(self, pointer: str) -> str:
        """Of its elements."""
        return _QUALIFIERS.sub("", self._declared(pointer)).strip()

    def is_constant(self, pointer: str) -> bool:
        return bool(re.search(r"\bconst\b", self._declared(pointer)))

    def of(self, root: str) -> list[Access]:
        return [one for one in self.accesses if one.root == root]

    def _declared(self, pointer: str) -> str:
        if pointer in self.parameters:
            return self.parameters[pointer].type
        statement = self._locals.declared[pointer].statement
        first = statement.child_by_field_name("declarator")
        return self._reading.data[statement.start_byte : first.start_byte].decode().strip()

    def _root_of(self, local: Local) -> str | None:
        """The parameter that a local pointer leads into for good: p + offset, or &p[offset]."""
        alone = len(self._locals.of(local.statement)) == 1
        if local.form != "pointer_declarator" or local.value is None or not alone:
            return None
        if local.declarator.text.count(b"*") != 1 or self._locals.changes(local.key):
            return None
        base = _base(local.value)
        name = base.text.decode() if base is not None and base.type == "identifier" else ""
        return name if name in self.parameters and self._locals.key(base) == name else None

    def _use(self, node: Node, key: str) -> None:
        root = self._pointers[key]
        parent = node.parent
        if parent.type == "pointer_declarator" or self._leads_into(node, root):
            return
        if parent.type != "subscript_expression" or not _is_argument(parent, node):
            self.strays.add(root)
            return
        inside = parent.child_by_field_name("indices")
        indices = inside.named_children if inside is not None else []
        element = _loaded(parent)
        if len(indices) != 1 or self._escapes(element):
            self.strays.add(root)
            return
        self.accesses.append(
            Access(
                node=element,
                root=root,
                pointer=key,
                index=indices[0],
                written=_is_written(parent),
            )
        )

    def _leads_into(self, node: Node, root: str) -> bool:
        """Whether it is the base of a local pointer's value."""
        return any(
            base is not None and base.id == node.id
            for base in (
                _base(self._locals.declared[key].value)
                for key, its_root in self.local.items()
                if its_root == root
            )
        )

    def _escapes(self, element: Node) -> bool:
        """Whether its address is taken, or a reference may be."""
        parent = element.parent
        while parent.type in ("field_expression", "parenthesized_expression"):
            parent = parent.parent
        if parent.type == "pointer_expression" and parent.children[0].type == "&":
            return True
        if parent.type == "init_declarator":
            return bool(parent.child_by_field_name("declarator").type == "reference_declarator")
        if parent.type == "argument_list" and parent.parent.type == "call_expression":
            callee = parent.parent.child_by_field_name("function").text.decode()
            known = self._reading.functions.get(callee.partition("<")[0])
            return known is not None and "&" in self._reading.text(known.node).partition("{")[0]
        return False


def distinct(reading: Reading, function: Function) -> bool:
    """Whether no launch hands one buffer in twice."""
    for launch in reading.launched[function.name]:
        names = [one for one in launch.args if isinstance(one, str)]
        if len(set(names)) < len(names):
            return False
    return True


def told_once(reading: Reading, function: Function) -> bool:
    """Whether the kernel has no declaration beside its definition, which would differ then."""
    return len(re.findall(rf"\b{function.name}\s*\(", reading.kernel.code)) == 1


def _is_plain(parameter: Parameter) -> bool:
    return parameter.type.count("*") == 1 and "volatile" not in parameter.type


def _base(value: Node | None) -> Node | None:
    """p of p, p + offset (leftmost), &p[offset]."""
    if value is None:
        return None
    value = bare(value) if value.type == "parenthesized_expression" else value
    if value.type == "binary_expression":
        plus = value.child_by_field_name("operator").type in ("+", "-")
        return _base(value.child_by_field_name("left")) if plus else None
    if value.type == "pointer_expression" and value.children[0].type == "&":
        element = value.child_by_field_name("argument")
        if element.type == "subscript_expression":
            return element.child_by_field_name("argument")
        return None
    return value if value.type == "identifier" else None


def _is_argument(subscript: Node, node: Node) -> bool:
    return bool(subscript.child_by_field_name("argument").id == node.id)


def _loaded(element: Node) -> Node:
    """The call around an element that __ldg reads; else itself."""
    address = element.parent
    arguments = address.parent if address.type == "pointer_expression" else None
    if arguments is None or arguments.type != "argument_list":
        return element
    call = arguments.parent
    is_load = call.type == "call_expression" and call.children[0].text == b"__ldg"
    return call if is_load and address.children[0].type == "&" else element


def _is_written(element: Node) -> bool:
    inner, parent = element, element.parent
    while parent.type in ("field_expression", "parenthesized_expression"):
        inner, parent = parent, parent.parent
    if parent.type == "assignment_expression":
        return bool(parent.child_by_field_name("left").id == inner.id)
    return bool(parent.type == "update_expression")
