"""Functions that are handed on by name, to templates or functions: each use gets a copy of those.

A device function that waits, or uses indices, becomes something else in translation, so it has no
address. In a copy of the function that it is handed to its name stands where it is called.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from evaluators.cpu.fission.source import Function, Unit, close, declared_in
from evaluators.cpu.fission.tree import Node, callee, leaf

MOST_COPIES = 64


def specialise(unit: Unit, kernels: Iterable[str]) -> Mapping[str, str]:
    """Add the copies, and call them; name expressions of kernels as they are then.

    What can't be copied stays as it is, to be refused.
    """
    work = _Work(unit)
    renamed = {kernel: work.kernel(kernel) for kernel in dict.fromkeys(kernels)}
    for function in [f for f in unit.functions if not f.copied]:
        work.calls_in(function)
    if work.count:
        close(unit)
    return renamed


@dataclass(frozen=True, slots=True)
class _Picked:
    """Which of a template's and of a function's parameters get which function's name."""

    name: str
    templates: tuple[tuple[int, str], ...]
    arguments: tuple[tuple[int, str], ...]


class _Work:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.values = {
            f.name for f in unit.functions if (f.collective or f.indexed) and not f.kernel
        }
        self.copies: dict[_Picked, Function] = {}

    @property
    def count(self) -> int:
        return len(self.copies)

    def kernel(self, expression: str) -> str:
        """The name expression without functions among its arguments."""
        name, angle, rest = expression.partition("<")
        given = _parted(rest.rpartition(">")[0]) if angle else []
        templates = [(i, value) for i, one in enumerate(given) if (value := self.value(one))]
        original = self.only(name, kernel=True)
        if not templates or original is None:
            return expression
        copy = self.copy(_Picked(name, tuple(templates), ()), original)
        if copy is None:
            return expression
        self.unit.late.append(copy)
        kept = [one for i, one in enumerate(given) if i not in dict(templates)]
        return f"{copy.name}<{', '.join(kept)}>" if kept else copy.name

    def calls_in(self, function: Function) -> None:
        own = declared_in(function)
        for call in [one for one in function.body.walk() if one.kind == "call_expression"]:
            original = self.only(callee(call), kernel=False)
            if original is None:
                continue
            named, listed = call.need("function"), call.need("arguments")
            angled = named.get("arguments") if named.kind == "template_function" else None
            templates = self.picked(_items(angled) if angled is not None else [], own)
            arguments = self.picked(_items(listed), own)
            if not templates and not arguments:
                continue
            copy = self.copy(_Picked(original.name, templates, arguments), original)
            if copy is None:
                continue
            if copy not in function.before:
                function.before.append(copy)
            _leave_out(listed, dict(arguments))
            if angled is not None:
                _leave_out(angled, dict(templates))
            rest = _items(angled) if angled is not None else []
            _rename(named, copy.name, bare=not rest)

    def picked(self, given: Sequence[Node], own: Set[str]) -> tuple[tuple[int, str], ...]:
        """own: names that mean something else there."""
        found = ((i, self.value(str(one))) for i, one in enumerate(given))
        return tuple((i, value) for i, value in found if value and value not in own)

    def value(self, text: str) -> str:
        """The function that an argument names; empty for none."""
        name = text.strip().removeprefix("&").strip()
        return name if name in self.values else ""

    def only(self, name: str, *, kernel: bool) -> Function | None:
        found = self.unit.named(name)
        return found[0] if len(found) == 1 and found[0].kernel == kernel else None

    def copy(self, picked: _Picked, original: Function) -> Function | None:
        """A copy, with the calls in it copied in turn; None where it has no such parameters."""
        known = self.copies.get(picked)
        if known is not None or self.count >= MOST_COPIES:
            return known
        made = _copy(picked, original, f"{original.name}_ks{self.count}")
        if made is not None:
            self.copies[picked] = made
            self.unit.functions.append(made)
            self.calls_in(made)
        return made


def _copy(picked: _Picked, original: Function, name: str) -> Function | None:
    outer = original.outer.copy()
    node = outer if original.template is None else outer.kids[-1]
    head = outer.get("parameters") if original.template is not None else None
    declarator = node.need("declarator")
    while declarator.kind != "function_declarator":
        declarator = declarator.need("declarator")
    listed = declarator.need("parameters")
    templates, params = _items(head) if head is not None else [], _items(listed)
    names: dict[str, str] = {}
    types: list[str] = []
    for given, among in ((picked.templates, templates), (picked.arguments, params)):
        for i, value in given:
            named = _declared(among[i]) if i < len(among) else ""
            if not named:
                return None
            names[named] = value
    types = [str(params[i].get("type")) for i, _ in picked.arguments]
    _leave_out(listed, dict(picked.arguments))
    for one in node.walk():
        if not one.kids and one.kind.endswith("identifier") and one.text in names:
            one.text = names[one.text]
    declarator.need("declarator").become(leaf(name, original.node.line, "identifier"))
    if head is not None:
        gone = {i for i, _ in picked.templates}
        gone |= {i for i, one in enumerate(templates) if _declared(one) in types}
        _leave_out(head, gone)
    whole = outer if head is not None and _items(head) else node
    return Function(
        name=name,
        node=node,
        outer=whole,
        template=head if whole is outer else None,
        params=[one for one in _items(listed) if one.kind.endswith("declaration")],
        body=node.need("body"),
        kernel=original.kernel,
        start=original.start,
        linkage=original.linkage,
        copied=True,
    )


def _declared(parameter: Node) -> str:
    """The name of a function's or a template's parameter."""
    left = parameter.get("declarator") or parameter.get("name") or parameter
    named = [one.text for one in left.leaves() if one.kind.endswith("identifier")]
    if parameter.get("declarator") is None:
        return named[-1] if named else ""
    return named[0] if named else ""  # of int (*f)(int), too


def _items(listed: Node) -> list[Node]:
    return [kid for kid in listed.kids if kid.kind not in ("(", ")", "<", ">", ",")]


def _leave_out(listed: Node, gone: Iterable[int]) -> None:
    kept = [one for i, one in enumerate(_items(listed)) if i not in set(gone)]
    kids = [listed.kids[0]]
    for one in kept:
        if len(kids) > 1:
            kids.append(leaf(",", listed.line, ","))
        kids.append(one)
    listed.kids = [*kids, listed.kids[-1]]


def _rename(called: Node, name: str, *, bare: bool) -> None:
    """The name that a call calls; bare: without template arguments."""
    if called.kind == "template_function" and not bare:
        called.need("name").text = name
        return
    called.become(leaf(name, called.line, "identifier"))


def _parted(text: str) -> list[str]:
    """What commas part, but for those in brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "(<[") - (sign in ")>]")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]
