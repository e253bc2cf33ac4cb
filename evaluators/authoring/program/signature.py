"""A kernel's signature: template parameters, and each parameter with its type and use."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluators.authoring.program.accesses import accesses
from evaluators.authoring.program.cpp import Program
from evaluators.authoring.program.elements import bare_type
from evaluators.authoring.program.items import (
    Item,
    declared,
    parameter_nodes,
    template_nodes,
    without_default,
)


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


def signature_of(program: Program, item: Item, functions: Mapping[str, Item]) -> Signature:
    """functions: device functions by name, into which pointers are followed."""
    parameters = []
    for node in parameter_nodes(item.node):
        name, text = (
            declared(node.child_by_field_name("declarator") or node),
            without_default(program.text(node)),
        )
        pointer = "*" in text or "[" in text
        used = accesses(item.node, name, functions, 0) if pointer and name else (False, False)
        of = text.split("*")[0]
        constant = bool(re.search(r"\bconst\b", of)) and pointer
        parameters.append(
            Parameter(
                name=name,
                type=_type_text(text, name),
                pointer=pointer,
                constant=constant,
                read=constant or used[0],
                written=used[1] and not constant,
            )
        )
    templates = tuple(_templates(program, item))
    return Signature(item=item, templates=templates, parameters=tuple(parameters))


def _type_text(text: str, name: str) -> str:
    without = re.sub(rf"\b{re.escape(name)}\b(?!.*\b{re.escape(name)}\b).*", "", text, flags=re.S)
    return bare_type(without if name else text)


def _templates(program: Program, item: Item) -> Iterator[tuple[str, str, str]]:
    for one in template_nodes(item.node):
        text = program.text(one).strip()
        left, _, default = text.partition("=")
        parted = left.split()
        kind = "typename" if parted[0] in ("typename", "class") else " ".join(parted[:-1])
        yield kind, parted[-1].lstrip(".") if len(parted) > 1 else "", default.strip()
