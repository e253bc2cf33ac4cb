"""The functions of a kernel file: which are kernels, which hold barriers, which need indices."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from evaluators.cpu.fission import groups
from evaluators.cpu.fission.group_calls import LIBRARY
from evaluators.cpu.fission.names import ATOMIC_PREFIXES, BUILTINS, COLLECTIVES
from evaluators.cpu.fission.tree import Node, Source, Spanned, unsupported

_OURS = re.compile(r"ks_\w*|KS_\w*")
_LISTS = frozenset({"argument_list", "template_argument_list"})
_WAITING = "which holds a barrier or wavefront operation"
_CONTAINERS = ("namespace_definition", "linkage_specification", "declaration_list")


@dataclass(slots=True, eq=False)
class Function:
    """A function defined in the file, or a copy of one, which stands nowhere in it."""

    name: str
    node: Node
    outer: Node  # with the template's head
    template: Node | None  # its parameter list
    params: list[Node]
    body: Node
    kernel: bool
    start: int  # in the text, with its markers
    linkage: bool = False  # in extern "C" { }
    copied: bool = False
    library: bool = False  # ours, not the file's
    before: "list[Function]" = field(default_factory=list)  # copies that it calls
    collective: bool = False
    indexed: bool = False  # uses threadIdx or a relative, or calls what does
    atomic: bool = False

    @property
    def end(self) -> int:
        """In the text."""
        assert isinstance(self.outer, Spanned)
        return self.outer.end

    def at(self, call: int) -> int | None:
        """The line where all of it stands that is put in place of a call; None: where it stands."""
        return call if self.library else None


@dataclass(slots=True, eq=False)
class Prototype:
    """A function declared in the file, and perhaps defined elsewhere in it."""

    name: str
    outer: Spanned  # with the template's head
    declarator: Node
    start: int  # in the text, with its markers


@dataclass(slots=True)
class Unit:
    """A parsed kernel file."""

    source: Source
    functions: list[Function] = field(default_factory=list)
    prototypes: list[Prototype] = field(default_factory=list)
    mutable: set[str] = field(default_factory=set)  # variables of the file that can change
    shared: list[Spanned] = field(default_factory=list)  # declarations of LDS outside functions
    late: list[Function] = field(default_factory=list)  # copies of kernels, to stand at the end
    grouped: bool = False  # it may use cooperative groups
    library: list[Function] = field(default_factory=list)  # what such calls stand for

    @property
    def names(self) -> set[str]:
        return {f.name for f in self.functions}

    def named(self, name: str) -> list[Function]:
        return [f for f in (*self.functions, *self.library) if f.name == name]

    def with_property(self, attribute: str) -> set[str]:
        return {f.name for f in (*self.functions, *self.library) if getattr(f, attribute)}


def read(text: str) -> Unit:
    """Parse a kernel file. Raises Rejected(UNSUPPORTED) for what can't be understood."""
    unit = Unit(Source(text))
    unit.grouped = groups.mentioned(unit.source.root)
    _collect(unit, unit.source.root, None, 0)
    close(unit)
    if unit.grouped:
        unit.library = _library()
    return unit


@cache
def _library() -> list[Function]:
    unit = Unit(Source(LIBRARY), grouped=True)
    _collect(unit, unit.source.root, None, 0)
    close(unit)
    for function in unit.functions:
        function.library = True
    return unit.functions


def _collect(unit: Unit, parent: Node, template: Spanned | None, start: int) -> None:
    for kid in parent.kids:
        if not isinstance(kid, Spanned):
            continue
        if kid.kind == "template_declaration":
            _collect(unit, kid, kid, start)
        elif kid.kind in _CONTAINERS:
            known = len(unit.functions)
            _collect(unit, kid, None, kid.start)
            if kid.kind == "linkage_specification":
                block = kid.need("body").kind == "declaration_list"
                for function in unit.functions[known:]:
                    function.linkage = block
                    function.start = function.start if block else kid.start
        elif kid.kind == "function_definition":
            _function(unit, kid, template, start)
        elif kid.kind == "shared_declaration":
            unit.shared.append(kid)
            if not kid.has_leaf("extern"):
                unit.mutable.update(one.text for one in kid.leaves() if one.kind == "identifier")
        elif kid.kind == "declaration" and (declarator := _called(kid)) is not None:
            outer = template or kid
            _rename_indices(_params(declarator), kid)
            begin = _start(unit.source, start, outer.start)
            named = str(declarator.need("declarator"))
            unit.prototypes.append(Prototype(named, outer, declarator, begin))
        elif kid.kind == "declaration" and not _constant(unit, kid, start):
            unit.mutable.update(one.text for one in kid.leaves() if one.kind == "identifier")
        start = kid.end


def _constant(unit: Unit, node: Spanned, start: int) -> bool:
    marked = unit.source.marked(start, node.end, "__constant__")
    return marked or node.has_leaf("const") or node.has_leaf("constexpr")


def _function(unit: Unit, node: Spanned, template: Spanned | None, start: int) -> None:
    declarator = _called(node)
    body = node.get("body")
    if declarator is None or body is None or body.kind != "compound_statement":
        return
    named = declarator.need("declarator")
    assert isinstance(body, Spanned)
    kernel = unit.source.marked(start, body.start, "__global__")
    if kernel and named.kind != "identifier":
        raise unsupported(f"the kernel {named}: its name is not a plain one", named.line)
    params = _params(declarator)
    _rename_indices(params, node)
    unit.functions.append(
        Function(
            name=str(named),
            node=node,
            outer=template or node,
            template=template.get("parameters") if template else None,
            params=params,
            body=body,
            kernel=kernel,
            start=_start(unit.source, start, (template or node).start),
        )
    )


def _called(node: Node) -> Node | None:
    """The part of a declaration that names a function and its parameters, if it is one's."""
    declarator = node.get("declarator")
    while declarator is not None and declarator.kind != "function_declarator":
        if declarator.kind == "init_declarator":
            return None
        declarator = declarator.get("declarator") or next(
            (kid for kid in declarator.kids if kid.kind.endswith("_declarator")), None
        )
    return declarator


def _params(declarator: Node) -> list[Node]:
    return [k for k in declarator.need("parameters").kids if k.kind.endswith("declaration")]


def _rename_indices(params: list[Node], node: Node) -> None:
    """A parameter called blockIdx is the user's own: it gets another name."""
    declarators = [one for param in params if (one := param.get("declarator")) is not None]
    own = {leaf.text for one in declarators for leaf in one.leaves()} & BUILTINS
    for leaf in node.leaves() if own else ():
        if leaf.text in own and leaf.kind == "identifier":
            leaf.text += "_own"


def close(unit: Unit) -> None:
    """Carry what a function needs to all that call it."""
    words = {id(f): frozenset(leaf.text for leaf in _names(f.body)) for f in unit.functions}
    for f in unit.functions:
        f.collective = bool(words[id(f)] & COLLECTIVES)
        f.indexed = bool(words[id(f)] & BUILTINS)
        if unit.grouped:
            f.collective |= any(map(groups.is_call, f.body.walk()))
            f.indexed |= groups.uses(f.body)
        f.atomic = any(word.startswith(ATOMIC_PREFIXES) for word in words[id(f)])
    for attribute in ("collective", "indexed", "atomic"):
        names = _called_with(unit, attribute)
        grown = True
        while grown:
            grown = False
            for f in unit.functions:
                if not getattr(f, attribute) and words[id(f)] & names:
                    setattr(f, attribute, True)
                    names |= set() if f.kernel else {f.name}
                    grown = True


def _names(node: Node) -> Iterator[Node]:
    """Its leaves without members of structs: those may be named like functions."""
    return (leaf for leaf in node.leaves() if leaf.kind != "field_identifier")


def _called_with(unit: Unit, attribute: str) -> set[str]:
    """Functions with a property that others can call, as they can't call kernels."""
    functions = (*unit.functions, *unit.library)
    return {f.name for f in functions if getattr(f, attribute) and not f.kernel}


def _start(source: Source, after: int, start: int) -> int:
    """Where a function's own text begins: at the first marker ahead of it."""
    return min([at for at, _ in source.markers if after <= at < start], default=start)


def is_generated(name: str) -> bool:
    """Whether a name is one of generated code, which no kernel may use."""
    return _OURS.fullmatch(name) is not None


def check_names(unit: Unit, kernels: Sequence[str]) -> None:
    """Raises Rejected(UNSUPPORTED): names of generated code, functions with barriers as values."""
    for one in unit.source.root.walk():
        if one.kind.endswith("identifier") and is_generated(one.text):
            raise unsupported(f"{one.text}: names that begin with ks_ are its own", one.line)
    waiting = unit.with_property("collective") - {f.name for f in unit.functions if f.kernel}
    for f in unit.functions:
        own = declared_in(f)
        for given in _arguments(f):
            if given.text in waiting - own:
                raise unsupported(f"{given.text}, {_WAITING}, as an argument", given.line)
    for kernel in kernels:
        name, _, arguments = kernel.partition("<")
        if found := waiting & set(re.findall(r"\w+", arguments)):
            line = next(f.node.line for f in unit.functions if f.name in found)
            what = f"{sorted(found)[0]}, {_WAITING}, as an argument of the template {name}"
            raise unsupported(what, line)


def declared_in(function: Function) -> set[str]:
    """The names of its parameters and variables."""
    return {str(one.get("declarator")) for one in function.node.walk() if one.get("declarator")}


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
    called = _called_with(unit, "indexed") | _called_with(unit, "collective")
    words = BUILTINS | COLLECTIVES | called
    for one in _names(unit.source.root):
        if one.text in words and id(one) not in inside:
            raise unsupported(
                f"{one.text} outside of a plain function: a member function can become one",
                one.line,
            )
