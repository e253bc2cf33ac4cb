"""What a kernel file may not hold if it is to be cut: told before anything is translated."""

import re
from collections.abc import Iterator, Sequence

from evaluators.cpu.fission.names import BUILTINS, COLLECTIVES
from evaluators.cpu.fission.source import Function, Unit
from evaluators.cpu.fission.tree import Node, unsupported

_OURS = re.compile(r"ks_\w*|KS_\w*")
_LISTS = frozenset({"argument_list", "template_argument_list"})
_WAITING = "which holds a barrier or wavefront operation"


def check_names(unit: Unit, kernels: Sequence[str]) -> None:
    """Raises Rejected(UNSUPPORTED): names of generated code, functions with barriers as values."""
    for one in unit.source.root.walk():
        if one.kind.endswith("identifier") and _OURS.fullmatch(one.text):
            raise unsupported(f"{one.text}: names that begin with ks_ are its own", one.line)
    waiting = unit.with_property("collective") - {f.name for f in unit.functions if f.kernel}
    for f in unit.functions:
        own = {str(one.get("declarator")) for one in f.node.walk() if one.get("declarator")}
        for given in _arguments(f):
            if given.text in waiting - own:
                raise unsupported(f"{given.text}, {_WAITING}, as an argument", given.line)
    for kernel in kernels:
        name, _, arguments = kernel.partition("<")
        if found := waiting & set(re.findall(r"\w+", arguments)):
            line = next(f.node.line for f in unit.functions if f.name in found)
            what = f"{sorted(found)[0]}, {_WAITING}, as an argument of the template {name}"
            raise unsupported(what, line)


def _arguments(function: Function) -> Iterator[Node]:
    """Plain names handed to functions and templates."""
    for one in function.body.walk():
        if one.kind in _LISTS:
            for kid in one.kids:
                yield from (leaf for leaf in kid.leaves() if len(list(kid.leaves())) == 1)
        elif one.kind == "pointer_expression" and one.kids[0].text == "&":
            yield one.kids[-1]


def check_places(unit: Unit) -> None:
    """Raises Rejected(UNSUPPORTED): indices and barriers are known in plain functions only."""
    nodes = [*(f.node for f in unit.functions), *(p.outer for p in unit.prototypes)]
    inside = {id(one) for node in nodes for one in node.walk()}
    words = (
        BUILTINS | COLLECTIVES | unit.with_property("indexed") | unit.with_property("collective")
    )
    for one in unit.source.root.leaves():
        if one.text in words and id(one) not in inside:
            raise unsupported(f"{one.text} outside of a plain function", one.line)
