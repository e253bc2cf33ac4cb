"""How a piece of syntax reads and changes variables, with the scopes of C++."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from evaluators.cpu.fission.exchange import declared_name
from evaluators.cpu.fission.ir import Step, Var
from evaluators.cpu.fission.names import ATOMIC_PREFIXES, CHANGING
from evaluators.cpu.fission.purity import Purity
from evaluators.cpu.fission.source import Function, Unit
from evaluators.cpu.fission.tree import TYPES, Node, callee

NAMES = frozenset({"identifier", "type_identifier", "namespace_identifier"})
_NESTS = frozenset(
    {
        "compound_statement",
        "for_statement",
        "for_range_loop",
        "while_statement",
        "if_statement",
        "switch_statement",
        "case_statement",
        "lambda_expression",
    }
)
_PUNCTUATION = ("(", ")", ",", "indices")
_UNEVALUATED = frozenset({"sizeof_expression", "decltype", "alignof_expression"})

Names = dict[str, Var | None]
"""None: a name of a nested scope, of no interest beyond its statement."""


def looked_up(node: Node) -> Iterator[Node]:
    """The names that mean something of the scopes round node: in A::b and ::b it is A at most."""
    if node.kind in NAMES:
        yield node
    for kid in node.kids:
        if node.kind != "qualified_identifier" or kid.field == "scope":
            yield from looked_up(kid)
        else:  # a member: only what it is given as template arguments
            lists = (one for one in kid.walk() if one.kind == "template_argument_list")
            yield from (one for listed in lists for one in looked_up(listed))


@dataclass(slots=True)
class Reader:
    """Knows what each name means at the place that it has reached."""

    unit: Unit
    scopes: list[Names] = field(default_factory=lambda: [{}])
    variables: list[Var] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)  # names that mean something of the file
    nested: set[str] = field(default_factory=set)  # names declared inside statements
    purity: Purity = field(init=False)

    def __post_init__(self) -> None:
        self.purity = Purity(self.unit)

    def declare(self, var: Var, named: Node) -> Var:
        self.variables.append(var)
        self.scopes[-1][var.name] = var
        self.mention(named, var)
        return var

    def mention(self, named: Node, var: Var) -> None:
        var.mentions.append(named)
        named.var = var

    def find(self, named: Node) -> Var | None:
        """The variable that a name means here, None for one of no interest."""
        if isinstance(named.var, Var):
            return named.var
        for scope in reversed(self.scopes):
            if named.text in scope:
                var = scope[named.text]
                if var is not None:
                    self.mention(named, var)
                return var
        self.foreign.add(named.text)
        return None

    def read(self, named: Node, step: Step) -> Var | None:
        var = self.find(named)
        if var is not None:
            step.reads.add(var)
        return var

    def visit(self, node: Node, step: Step, skip: Node | None = None) -> None:
        """Reads, changes and escapes in any piece of syntax."""
        kind = node.kind
        if node is skip:
            return
        if kind in NAMES:
            var = self.read(node, step)
            if var is not None and var.is_array and not var.is_fixed:
                self.change(var, step, escapes=True)
        elif kind == "qualified_identifier":
            for one in looked_up(node):
                self.read(one, step)
        elif kind in _NESTS:
            self.scopes.append({})
            if kind == "lambda_expression":
                self.parameters(node)
            elif kind == "for_range_loop":
                self.local(declared_name(node.need("declarator")))
            for kid in node.kids:
                self.visit(kid, step, skip)
            self.scopes.pop()
        elif kind == "declaration":
            self.local_declaration(node, step)
        elif kind in ("assignment_expression", "update_expression"):
            self.assignment(node, step)
        elif kind == "pointer_expression" and node.kids[0].text == "&":
            self.keep_address(node.need("argument"), step)
        elif kind == "call_expression":
            self.call(node, step)
        elif kind == "subscript_expression":
            base = node.need("argument")
            if base.kind in NAMES:
                self.read(base, step)
            else:
                self.visit(base, step)
            self.visit(node.need("indices"), step)
        elif kind == "field_expression" and node.need("argument").kind in NAMES:
            self.read(node.need("argument"), step)
        elif kind in TYPES:
            self.local_type(node, step)
        elif kind in _UNEVALUATED:
            for one in looked_up(node):
                self.read(one, step)
        else:
            for kid in node.kids:
                self.visit(kid, step, skip)

    def local_type(self, node: Node, step: Step) -> None:
        """A type declared inside a statement: its bounds and methods may read variables."""
        named = node.get("name")
        if named is not None and node.get("body") is not None:
            self.local(named)
        for one in looked_up(node):
            if one is not named:
                self.read(one, step)

    def change(self, var: Var, step: Step, *, escapes: bool = False) -> None:
        if var.is_reference:
            return  # what it refers to changes, and has an address of its own
        step.writes.add(var)
        var.opaque = True
        var.escapes |= escapes

    def parameters(self, function: Node) -> None:
        for one in function.walk():
            if one.kind.endswith("parameter_declaration"):
                declarator = one.get("declarator")
                if declarator is not None:
                    self.local(declared_name(declarator))
            elif one.kind == "compound_statement":
                return

    def local(self, named: Node) -> None:
        self.scopes[-1][named.text] = None
        self.nested.add(named.text)

    def local_declaration(self, node: Node, step: Step) -> None:
        for kid in node.kids:
            if kid.field != "declarator":
                self.visit(kid, step)
        for declarator in node.all("declarator"):
            inner = declarator.get("declarator") or declarator
            value = declarator.get("value")
            if value is not None:
                self.visit(value, step)
                if any(k.kind == "reference_declarator" for k in inner.walk()):
                    self.keep_address(value, step, kept=False)
            named = declared_name(declarator)
            for one in looked_up(inner):
                if one is not named:
                    self.read(one, step)
            self.local(named)

    def assignment(self, node: Node, step: Step) -> None:
        target = node.get("left") or node.need("argument")
        right = node.get("right")
        if right is not None:
            self.visit(right, step)
        var = self.root(target)
        if target.kind in NAMES:
            self.read(target, step)
        else:
            self.visit(target, step)
        if var is not None and not var.is_fixed:
            self.change(var, step)

    def keep_address(self, target: Node, step: Step, *, kept: bool = True) -> None:
        self.visit(target, step) if target.kind not in NAMES else self.read(target, step)
        var = self.root(target)
        if var is not None and not var.is_fixed:
            self.change(var, step, escapes=kept)

    def root(self, node: Node) -> Var | None:
        """The variable whose own storage an lvalue is part of."""
        while True:
            if node.kind in NAMES:
                return self.find(node)
            if node.kind == "parenthesized_expression":
                node = node.kids[1]
            elif node.kind == "subscript_expression":
                node = node.need("argument")
                var = self.root(node)
                pointer = var is not None and "*" in var.type_text and not var.is_array
                return None if pointer else var
            elif node.kind == "field_expression" and node.need("operator").text == ".":
                node = node.need("argument")
            else:
                return None

    def call(self, node: Node, step: Step) -> None:
        word = callee(node)
        function = node.need("function")
        known = self.unit.named(word) if function.kind != "field_expression" else []
        opaque_callee = function.kind == "field_expression"
        if function.kind in NAMES:
            var = self.read(function, step)
            opaque_callee = var is not None and not var.is_lambda
        elif function.kind != "field_expression":
            self.visit(function, step)
        else:
            self.keep_address(function.need("argument"), step, kept=False)
        args = [k for k in node.need("arguments").kids if k.kind not in _PUNCTUATION]
        for i, arg in enumerate(args):
            var = self.root(arg)
            lvalue = var is not None and not var.is_fixed
            address = arg.kind == "pointer_expression" and arg.kids[0].text == "&"
            if address:
                self.keep_address(arg.need("argument"), step, kept=bool(known))
            elif arg.kind in NAMES:
                self.read(arg, step)
            else:
                self.visit(arg, step)
            if lvalue and var is not None:
                handed = var.is_array and arg.kind in NAMES
                changed = word in CHANGING or _by_reference(known, i)
                if handed or opaque_callee or changed:
                    self.change(var, step)

    def is_atomic(self, node: Node) -> bool:
        atomics = self.unit.with_property("atomic")
        return any(
            one.text.startswith(ATOMIC_PREFIXES) or one.text in atomics for one in node.leaves()
        )


def _by_reference(functions: list[Function], i: int) -> bool:
    """Whether the i-th parameter of any of them is a reference to what it may change."""
    for f in functions:
        if i >= len(f.params):
            continue
        declarator = f.params[i].get("declarator")
        if declarator is None:
            continue
        reference = any("reference" in one.kind for one in declarator.walk())
        if reference and not any(k.text == "const" for k in f.params[i].kids):
            return True
    return False
