"""What a program is made of: kernels, device functions, types, constants, host functions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluators.authoring.program.cpp import Node, Program, node_text, walk

Kind = Literal["kernel", "device", "host", "type", "constant", "variable", "import", "other"]

_TYPES = frozenset({"struct_specifier", "class_specifier", "union_specifier", "enum_specifier"})
_WRAPPERS = frozenset({"namespace_definition", "linkage_specification"})
WORD = re.compile(rb"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that a program declares outside of functions: code[start:end].

    path: the namespaces that it stands in. names: what it declares. node: its tree.
    """

    kind: Kind
    names: tuple[str, ...]
    start: int
    end: int
    node: Node
    path: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.names[0] if self.names else ""

    @property
    def qualified(self) -> str:
        return "::".join((*self.path, self.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """A namespace, or extern "C": what opens and what closes it, and what it holds."""

    start: int
    body: int
    close: int
    end: int
    inside: "tuple[Item | Wrapper, ...]"


Part = Item | Wrapper


def parts_of(program: Program) -> tuple[Part, ...]:
    return tuple(_parts(program, program.root.children, 0, ()))


def flat(parts: Sequence[Part]) -> Iterator[Item]:
    for part in parts:
        if isinstance(part, Wrapper):
            yield from flat(part.inside)
        else:
            yield part


def _parts(
    program: Program, nodes: Sequence[Node], begin: int, path: tuple[str, ...]
) -> Iterator[Part]:
    directives = [one.end for one in program.directives]
    at = begin
    for i, node in enumerate(nodes):
        if node.type in (";", "comment", "{", "}"):
            at = max(at, node.end_byte) if node.type != "comment" else at
            continue
        past = max((end for end in directives if at < end <= node.start_byte), default=at)
        start = past + _blanks(program.code[past : node.start_byte])
        end = node.end_byte
        if i + 1 < len(nodes) and nodes[i + 1].type == ";":
            end = nodes[i + 1].end_byte
        body = node.child_by_field_name("body")
        if node.type in _WRAPPERS and body is not None and body.children[:1]:
            name = node.child_by_field_name("name")
            own = (*path, node_text(name)) if name is not None else path
            yield Wrapper(
                start=start,
                body=body.children[0].end_byte,
                close=body.children[-1].start_byte,
                end=end,
                inside=tuple(_parts(program, body.children, body.children[0].end_byte, own)),
            )
        else:
            yield _item(program, node, start, end, path)
        at = end


def _blanks(code: bytes) -> int:
    return len(code) - len(code.lstrip())


def _item(program: Program, node: Node, start: int, end: int, path: tuple[str, ...]) -> Item:
    core = node
    while core.type == "template_declaration":
        core = core.named_children[-1]
    kind, names = _kind_of(program, core, start, end)
    return Item(kind=kind, names=names, start=start, end=end, node=core, path=path)


def _kind_of(program: Program, node: Node, start: int, end: int) -> tuple[Kind, tuple[str, ...]]:
    head = node.child_by_field_name("body") if node.type == "function_definition" else None
    upto = head.start_byte if head is not None else end
    if node.type == "function_definition" or _is_prototype(node):
        names = (_declared(node),)
        if program.marked(start, upto, "__global__"):
            return ("kernel" if head is not None else "variable"), names
        if program.marked(start, upto, "__device__") or program.marked(start, upto, "constexpr"):
            return "device", names
        return ("host" if head is not None else "other"), names
    if node.type in _TYPES or (node.type == "declaration" and _inner_type(node) is not None):
        return "type", tuple(_type_names(node))
    if node.type in ("alias_declaration", "type_definition", "namespace_alias_definition"):
        return "type", tuple(_alias_names(node))
    if node.type == "using_declaration":
        return "import", ()
    if node.type == "declaration":
        constant = bool(re.search(rb"\bconst(expr)?\b", program.code[start:end]))
        held = any(program.marked(start, end, m) for m in ("__device__", "__constant__"))
        kind: Kind = "constant" if constant and not held else "variable" if held else "other"
        return kind, tuple(_declared(one) for one in _declarators(node))
    return "other", ()


def _is_prototype(node: Node) -> bool:
    return node.type == "declaration" and any(
        one.type == "function_declarator" for one in _declarators(node)
    )


def _declarators(node: Node) -> list[Node]:
    return list(node.children_by_field_name("declarator"))


def _inner_type(node: Node) -> Node | None:
    found = node.child_by_field_name("type")
    return found if found is not None and found.type in _TYPES and _body(found) else None


def _body(node: Node) -> Node | None:
    return node.child_by_field_name("body")


def _type_names(node: Node) -> Iterator[str]:
    named = node if node.type in _TYPES else _inner_type(node)
    name = named.child_by_field_name("name") if named is not None else None
    if name is not None:
        yield node_text(name).split("<")[0].strip()
    if named is not None and named.type == "enum_specifier" and (body := _body(named)):
        for one in body.named_children:
            if (label := one.child_by_field_name("name")) is not None:
                yield node_text(label)


def _alias_names(node: Node) -> Iterator[str]:
    name = node.child_by_field_name("name")
    if name is not None:
        yield node_text(name)
    for one in _declarators(node):
        yield _declared(one)
    if node.type == "namespace_alias_definition" and node.named_children and name is None:
        yield node_text(node.named_children[0])


def _declared(node: Node) -> str:
    """The name that a declarator, or a function, declares; "" where there is none."""
    at: Node | None = node
    while at is not None:
        if at.type in ("identifier", "type_identifier", "field_identifier"):
            return node_text(at)
        if at.type in ("qualified_identifier", "template_function", "destructor_name"):
            return node_text(at).split("::")[-1].split("<")[0].strip()
        if at.type == "operator_name":
            return node_text(at)
        inner = at.child_by_field_name("declarator")
        if inner is None and at.type in ("reference_declarator", "parenthesized_declarator"):
            inner = at.named_children[0] if at.named_children else None
        at = inner
    return ""


def declared(node: Node) -> str:
    """See _declared()."""
    return _declared(node)


def template_nodes(function: Node) -> list[Node]:
    """The parameters of the template that a function or kernel is."""
    head = function.parent
    listed = (
        head.child_by_field_name("parameters")
        if head is not None and head.type == "template_declaration"
        else None
    )
    return list(listed.named_children) if listed is not None else []


def template_names(function: Node) -> list[str]:
    texts = [node_text(one).partition("=")[0].split() for one in template_nodes(function)]
    return [words[-1].lstrip(".") for words in texts if words]


def words(program: Program, start: int, end: int) -> set[str]:
    """Every name that stands in code[start:end], in directives too."""
    return {found.decode() for found in WORD.findall(program.code[start:end])}


def calls(node: Node) -> Iterator[tuple[str, Node]]:
    """Every call below a node: the name that is called, without namespace, and the call."""
    for one in walk(node):
        if one.type == "call_expression":
            function = one.child_by_field_name("function")
            if function is not None:
                yield node_text(function).split("<")[0].split("::")[-1].strip(), one


def arguments_of(call: Node) -> list[Node]:
    found = call.child_by_field_name("arguments")
    return [] if found is None else [one for one in found.named_children if one.type != "comment"]


def _declarator(node: Node) -> Node:
    return node.child_by_field_name("declarator") or node


def parameter_nodes(function: Node) -> list[Node]:
    for one in walk(function):
        if one.type == "parameter_list":
            return [
                kid
                for kid in one.named_children
                if kid.type in ("parameter_declaration", "optional_parameter_declaration")
                and node_text(kid).strip() != "void"
            ]
    return []


def parameter_names(function: Node) -> list[str]:
    return [declared(_declarator(one)) for one in parameter_nodes(function)]


def parameter_types(function: Node) -> dict[str, str]:
    """As they are written, const and * too."""
    return {
        declared(_declarator(one)): without_default(node_text(one))
        for one in parameter_nodes(function)
    }


def without_default(text: str) -> str:
    return text.partition("=")[0].strip()
