"""A kernel's signature: template parameters, and each parameter with its type and how it is used."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluators.authoring.drafting.cpp import Node, Program, node_text, walk
from evaluators.authoring.drafting.items import Item, arguments_of, calls, declared

DTYPES: Mapping[str, str] = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "__half": "float16",
    "_Float16": "float16",
    "__hip_bfloat16": "bfloat16",
    "hip_bfloat16": "bfloat16",
    "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16",
    "__hip_fp8_e4m3": "float8_e4m3fn",
    "__hip_fp8_e5m2": "float8_e5m2",
    "__hip_fp8_e4m3_fnuz": "float8_e4m3fnuz",
    "__hip_fp8_e5m2_fnuz": "float8_e5m2fnuz",
    "__nv_fp8_e4m3": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2",
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "int8_t": "int8",
    "unsigned char": "uint8",
    "uint8_t": "uint8",
    "uchar": "uint8",
    "short": "int16",
    "int16_t": "int16",
    "unsigned short": "uint16",
    "ushort": "uint16",
    "uint16_t": "uint16",
    "int": "int32",
    "int32_t": "int32",
    "signed": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "uint": "uint32",
    "uint32_t": "uint32",
    "long": "int64",
    "long int": "int64",
    "long long": "int64",
    "long long int": "int64",
    "int64_t": "int64",
    "ptrdiff_t": "int64",
    "unsigned long": "uint64",
    "unsigned long long": "uint64",
    "uint64_t": "uint64",
    "size_t": "uint64",
}
"""What C++ calls the dtypes of tasks."""
BYTES: Mapping[str, int] = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2, "bool": 1} | {
    f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)
}
FLOATING = ("float32", "float64", "float16", "bfloat16")
INTEGERS = tuple(name for name in BYTES if "int" in name)
_VECTOR = re.compile(
    r"(float|double|half|__half|__nv_bfloat16|__hip_bfloat16|u?char|u?short|u?int|u?long|u?longlong)"
    r"([1-4])"
)
_DROPPED = re.compile(r"\b(?:const|volatile|struct|typename|__restrict__|__restrict|register|std::)\b")
_READ_WRITE = ("atomic", "__hip_atomic")


def dtype_bytes(dtype: str) -> int:
    return BYTES.get(dtype, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """What a pointer points to, or a scalar is: a dtype, count of them ("float4": four).

    dtype: "" for a type that is none of the format's. type: as it is written, aliases resolved.
    """

    type: str
    dtype: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    name: str
    type: str
    pointer: bool
    constant: bool
    read: bool = False
    written: bool = False
    vector: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """templates: (kind, name, default) each; kind is "typename" or the type of a value."""

    item: Item
    templates: tuple[tuple[str, str, str], ...]
    parameters: tuple[Parameter, ...]


def element(type_text: str, aliases: Mapping[str, str]) -> Element:
    """The element of a C++ type, without const and *; aliases: what typedefs and using say."""
    plain = bare_type(type_text)
    for _ in range(8):
        if plain not in aliases or plain in DTYPES:
            break
        plain = bare_type(aliases[plain])
    if plain in DTYPES:
        return Element(type=plain, dtype=DTYPES[plain])
    if found := _VECTOR.fullmatch(plain):
        word = found[1].replace("longlong", "long long")
        of = DTYPES.get(word) or DTYPES.get(f"unsigned {word[1:]}", "")
        return Element(type=plain, dtype=of, count=int(found[2]))
    if plain in ("half2", "__half2", "__nv_bfloat162", "__hip_bfloat162"):
        return Element(type=plain, dtype="float16" if "half" in plain else "bfloat16", count=2)
    return Element(type=plain, dtype="")


def bare_type(text: str) -> str:
    plain = re.sub(r"[*&]", " ", _DROPPED.sub(" ", text.replace("std::", "")))
    return " ".join(plain.split()).removeprefix("::")


def signature_of(program: Program, item: Item, functions: Mapping[str, Item]) -> Signature:
    """functions: device functions by name, into which pointers are followed."""
    parameters = []
    for node in _parameter_nodes(item.node):
        name, text = declared(_declarator(node)), _without_default(program.text(node))
        pointer = "*" in text or "[" in text
        accesses = _accesses(item.node, name, functions, 0) if pointer and name else (False, False)
        of = text.split("*")[0]
        constant = bool(re.search(r"\bconst\b", of)) and pointer
        parameters.append(
            Parameter(
                name=name,
                type=_type_text(text, name),
                pointer=pointer,
                constant=constant,
                read=constant or accesses[0],
                written=accesses[1] and not constant,
            )
        )
    templates = tuple(_templates(program, item))
    return Signature(item=item, templates=templates, parameters=tuple(parameters))


def _declarator(node: Node) -> Node:
    return node.child_by_field_name("declarator") or node


def _parameter_nodes(function: Node) -> list[Node]:
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
    return [declared(_declarator(one)) for one in _parameter_nodes(function)]


def parameter_types(function: Node) -> dict[str, str]:
    """As they are written, const and * too."""
    return {
        declared(_declarator(one)): _without_default(node_text(one))
        for one in _parameter_nodes(function)
    }


def _without_default(text: str) -> str:
    return text.split("=")[0].strip()


def _type_text(text: str, name: str) -> str:
    without = re.sub(rf"\b{re.escape(name)}\b(?!.*\b{re.escape(name)}\b).*", "", text, flags=re.S)
    return bare_type(without if name else text)


def _templates(program: Program, item: Item) -> Iterator[tuple[str, str, str]]:
    head = item.node.parent
    if head is None or head.type != "template_declaration":
        return
    listed = head.child_by_field_name("parameters")
    for one in listed.named_children if listed is not None else ():
        text = program.text(one).strip()
        left, _, default = text.partition("=")
        parted = left.split()
        kind = "typename" if parted[0] in ("typename", "class") else " ".join(parted[:-1])
        yield kind, parted[-1].lstrip(".") if len(parted) > 1 else "", default.strip()


# --- how a pointer is used ----------------------------------------------------------------------


def _accesses(
    function: Node, name: str, functions: Mapping[str, Item], depth: int
) -> tuple[bool, bool]:
    """Whether what a parameter points to is read, and written, in a function's body."""
    body = function.child_by_field_name("body")
    if body is None or depth > 4:
        return True, True
    known = {name}
    for one in walk(body):
        if one.type == "init_declarator" and _is_alias(one, known):
            known.add(declared(one))
    read = written = False
    for one in walk(body):
        if one.type == "assignment_expression" and _root(one.child_by_field_name("left")) in known:
            if _reaches(one.child_by_field_name("left")):
                written = True
                read = read or node_text(_need(one, "operator")) != "="
        elif one.type == "update_expression" and _root(one) in known and _reaches(one):
            read = written = True
        elif one.type in ("subscript_expression", "pointer_expression", "field_expression"):
            if _root(one) in known and not _is_target(one) and node_text(one)[:1] != "&":
                read = True
    for called, call in calls(body):
        for place, argument in enumerate(arguments_of(call)):
            if _root(argument) not in known or _reads_value(argument):
                continue
            inner = _passed_on(called, place, functions, depth)
            read, written = read or inner[0], written or inner[1]
    return read, written


def _passed_on(
    called: str, place: int, functions: Mapping[str, Item], depth: int
) -> tuple[bool, bool]:
    if called.startswith(_READ_WRITE):
        return True, True
    if called in ("__ldg", "__ldcs", "__ldca", "__builtin_nontemporal_load"):
        return True, False
    if called in ("__stcs", "__stcg") and place == 0:
        return False, True
    if called in ("reinterpret_cast", "static_cast", "const_cast"):
        return False, False
    if called in functions:
        node = functions[called].node
        names, types = parameter_names(node), [*parameter_types(node).values()]
        if place < len(names):
            if re.search(r"\bconst\b[^*]*\*", types[place]):
                return True, False
            if "*" in types[place] or "[" in types[place]:
                return _accesses(node, names[place], functions, depth + 1)
            if "&" in types[place]:
                return True, True
            return True, False
    return True, True


def _reads_value(argument: Node) -> bool:
    """Whether an element is handed over, not the pointer."""
    return argument.type in ("subscript_expression", "field_expression") or (
        argument.type == "binary_expression" and any(_reaches(k) for k in argument.named_children)
    )


def _is_alias(node: Node, known: set[str]) -> bool:
    declarator, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
    if declarator is None or value is None:
        return False
    points = declarator.type in ("pointer_declarator", "reference_declarator")
    automatic = node.parent is not None and "auto" in node_text(node.parent).split("=")[0]
    return (points or (automatic and not _reads_value(value))) and _root(value) in known


def _is_target(node: Node) -> bool:
    """Whether it is only what an assignment writes to, or the inner part of such a place."""
    at = node
    while at.parent is not None:
        parent = at.parent
        if parent.type == "assignment_expression":
            return parent.child_by_field_name("left") == at
        if parent.type in ("subscript_expression", "field_expression"):
            base = parent.child_by_field_name("argument")
            if base != at:
                return False
        elif parent.type not in ("pointer_expression", "parenthesized_expression"):
            return node_text(parent)[:1] == "&" or parent.type == "update_expression"
        at = parent
    return False


def _reaches(node: Node | None) -> bool:
    """Whether it is an element of memory, not a pointer itself."""
    if node is None:
        return False
    return any(
        one.type in ("subscript_expression", "field_expression")
        or (one.type == "pointer_expression" and node_text(one)[:1] == "*")
        for one in walk(node)
    )


def _need(node: Node, field: str) -> Node:
    found = node.child_by_field_name(field)
    return node if found is None else found


def _root(node: Node | None) -> str:
    """The name of the pointer that an expression goes out from; "" where there is none."""
    while node is not None:
        match node.type:
            case "identifier":
                return node_text(node)
            case "subscript_expression" | "field_expression" | "pointer_expression":
                node = node.child_by_field_name("argument")
            case "update_expression":
                node = node.child_by_field_name("argument")
            case "cast_expression":
                node = node.child_by_field_name("value")
            case "parenthesized_expression":
                node = node.named_children[0] if node.named_children else None
            case "binary_expression":
                node = node.child_by_field_name("left")
            case "call_expression":
                inside = arguments_of(node)
                cast = "_cast<" in node_text(_need(node, "function"))
                node = inside[0] if cast and inside else None
            case _:
                return ""
    return ""


def free_sizes(parameters: Sequence[Parameter]) -> list[str]:
    return [one.name for one in parameters if not one.pointer]
