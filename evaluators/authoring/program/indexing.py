"""What subscripts in a kernel's body tell: lengths of rows, integers that index."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from evaluators.authoring.program.cpp import Node, node_text, walk
from evaluators.authoring.program.items import Item, declared

WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Indexed:
    """array is subscripted by a value of an integer argument; whole: by that alone, not by a
    multiple of it, so that the value is below the number of elements, else of rows."""

    array: str
    whole: bool


def strides(kernel: Item, pointer: str, sizes: Collection[str]) -> set[str]:
    """Sizes that an index into the pointer is multiplied by."""
    known = {pointer, *_aliases(kernel.node, pointer)}
    found: set[str] = set()
    for text in _index_texts(kernel.node, known):
        expanded = _expanded(text, _definitions(kernel.node))
        for size in sizes:
            if re.search(rf"\*\s*{size}\b|\b{size}\s*\*", expanded):
                found.add(size)
    return found


def indexes(kernel: Item, pointer: str, arrays: Collection[str]) -> list[Indexed]:
    """What the values behind an integer pointer index, the arrays of LDS among it."""
    values = _values_of(kernel.node, pointer)
    found = []
    local = set(_local_arrays(kernel.node))
    for one in walk(kernel.node):
        if one.type != "subscript_expression":
            continue
        base, index = one.child_by_field_name("argument"), _index(one)
        if base is None or index is None:
            continue
        name, text = node_text(base), node_text(index)
        own = name in arrays or name in local
        if not own or name == pointer or not _mentions(text, pointer, values):
            continue
        scaled = re.search(r"\*", text) is not None
        found.append(Indexed(name, not scaled))
    return list(dict.fromkeys(found))


def local_size(kernel: Item, name: str) -> str:
    """What stands between the brackets of a local array's declaration."""
    return _local_arrays(kernel.node).get(name, "")


def starts_rows(kernel: Item, pointer: str) -> bool:
    """Whether it is read at i and at i + 1, as the starts of ragged rows are."""
    texts = {
        "".join(node_text(index).split())
        for one in walk(kernel.node)
        if one.type == "subscript_expression"
        and node_text(one.child_by_field_name("argument") or one) == pointer
        and (index := _index(one)) is not None
    }
    return any(f"{text}+1" in texts or f"1+{text}" in texts for text in texts)


def compared(kernel: Item, name: str) -> bool:
    """Whether the body compares something with the name, as bounds and loops do."""
    body = kernel.node.child_by_field_name("body")
    if body is None:
        return False
    defined = _definitions(kernel.node)
    for one in walk(body):
        if one.type != "binary_expression":
            continue
        sign = one.child_by_field_name("operator")
        compares = sign is not None and node_text(sign) in ("<", "<=", ">", ">=", "==", "!=")
        if compares and name in WORD.findall(_expanded(node_text(one), defined)):
            return True
    return False


def divisors(kernel: Item, name: str) -> set[str]:
    """Names that the parameter itself is divided by; not where something is added to it first."""
    text = node_text(kernel.node)
    return set(re.findall(rf"(?<![\w.])(?<!\+ ){re.escape(name)}\s*/\s*([A-Za-z_]\w*)", text))


def _index(subscript: Node) -> Node | None:
    listed = subscript.child_by_field_name("indices") or subscript.child_by_field_name("index")
    if listed is not None and listed.type == "subscript_argument_list":
        return listed.named_children[0] if listed.named_children else None
    return listed


def _index_texts(function: Node, known: Collection[str]) -> Iterator[str]:
    for one in walk(function):
        if one.type == "subscript_expression":
            base, index = one.child_by_field_name("argument"), _index(one)
            if (
                base is not None
                and index is not None
                and set(WORD.findall(node_text(base))) & {*known}
            ):
                yield node_text(index)
        elif one.type == "binary_expression":
            left = one.child_by_field_name("left")
            if left is not None and node_text(left) in known:
                yield node_text(one.child_by_field_name("right") or one)


def _aliases(function: Node, pointer: str) -> Iterator[str]:
    for one in walk(function):
        if one.type == "init_declarator":
            declarator, value = (one.child_by_field_name(f) for f in ("declarator", "value"))
            if declarator is None or value is None or declarator.type != "pointer_declarator":
                continue
            if pointer in WORD.findall(node_text(value)):
                yield declared(declarator)


def _definitions(function: Node) -> Mapping[str, str]:
    """What local variables are set to where they are declared."""
    found = {}
    for one in walk(function):
        if one.type == "init_declarator":
            value = one.child_by_field_name("value")
            if value is not None and value.type not in ("initializer_list", "argument_list"):
                found[declared(one)] = node_text(value)
    return found


def _expanded(text: str, definitions: Mapping[str, str]) -> str:
    for _ in range(3):
        made = WORD.sub(
            lambda found: f"({definitions[found[0]]})" if found[0] in definitions else found[0],
            text,
        )
        if made == text or len(made) > 2000:
            break
        text = made
    return text


def _values_of(function: Node, pointer: str) -> set[str]:
    """Variables that are set to, or run between, what the pointer points to."""
    found: set[str] = set()
    for _ in range(2):
        for one in walk(function):
            if one.type not in ("init_declarator", "assignment_expression"):
                continue
            target = one.child_by_field_name("left") or one
            value = one.child_by_field_name("right") or one.child_by_field_name("value")
            name = declared(one) if one.type == "init_declarator" else node_text(target)
            pointed = (one.child_by_field_name("declarator") or one).type
            if value is None or pointed == "pointer_declarator":
                continue
            if _mentions(node_text(value), pointer, found) and not _reads_other(value, pointer):
                found.add(name)
    return found


def _reads_other(value: Node, pointer: str) -> bool:
    """Whether the value is an element of something else."""
    outer = next((n for n in walk(value) if n.type == "subscript_expression"), None)
    return (
        outer is not None and node_text(outer.child_by_field_name("argument") or outer) != pointer
    )


def _mentions(text: str, pointer: str, values: Collection[str]) -> bool:
    return bool(set(WORD.findall(text)) & {pointer, *values})


def _local_arrays(function: Node) -> dict[str, str]:
    found = {}
    body = function.child_by_field_name("body")
    for one in walk(body) if body is not None else ():
        if one.type == "array_declarator":
            size = one.child_by_field_name("size")
            found[declared(one)] = node_text(size) if size is not None else ""
    return found
