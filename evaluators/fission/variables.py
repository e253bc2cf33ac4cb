"""Which variable each name means, and how each statement of a kernel reads and changes them."""

from dataclasses import dataclass, field

from evaluators.fission.exchange import declared_name
from evaluators.fission.hoist import callee
from evaluators.fission.ir import (
    Barrier,
    Branch,
    Exit,
    Fixed,
    Item,
    Loop,
    Once,
    Scope,
    Step,
    Sweep,
    Switch,
    Var,
)
from evaluators.fission.names import ATOMIC_PREFIXES
from evaluators.fission.purity import Purity
from evaluators.fission.source import Function, Unit
from evaluators.fission.tree import Node, unsupported

_NAMES = frozenset({"identifier", "type_identifier"})
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
_TYPES = frozenset({"struct_specifier", "class_specifier", "union_specifier", "enum_specifier"})
_PUNCTUATION = ("(", ")", ",", "indices")
_UNEVALUATED = frozenset({"sizeof_expression", "decltype", "alignof_expression"})

Names = dict[str, Var | None]
"""None: a name of a nested scope, of no interest beyond its statement."""


@dataclass(slots=True)
class Resolver:
    """Walks a kernel's items once, in order, with the scopes of C++."""

    unit: Unit
    scopes: list[Names] = field(default_factory=lambda: [{}])
    variables: list[Var] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)  # names that mean something of the file
    nested: set[str] = field(default_factory=set)  # names declared inside statements
    purity: Purity = field(init=False)

    def __post_init__(self) -> None:
        self.purity = Purity(self.unit)

    def kernel(self, function: Function, items: list[Item]) -> list[Var]:
        """Resolve everything; the parameters' variables come back."""
        params = []
        for param in function.params:
            declarator = param.get("declarator")
            if declarator is None:
                continue
            named = declared_name(declarator)
            var = Var(named.text, named.line, is_param=True)
            var.type_text = str(param)
            params.append(self.declare(var, named))
        self.items(items)
        return params

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

    def items(self, items: list[Item]) -> None:
        for item in items:
            self.item(item)

    def nest(self, items: list[Item]) -> None:
        self.scopes.append({})
        self.items(items)
        self.scopes.pop()

    def item(self, item: Item) -> None:
        match item:
            case Step():
                self.step(item)
            case Fixed():
                self.fixed(item)
            case Scope():
                self.nest(item.body)
            case Once():
                self.once(item)
            case Branch():
                item.test = self.test(item.cond)
                self.nest(item.then)
                self.nest(item.orelse)
                if not item.collective:
                    self.step(item.whole)
            case Loop():
                self.scopes.append({})
                self.items(item.pre)
                if item.cond is not None:
                    item.test = self.test(item.cond)
                self.nest(item.body)
                self.items(item.update)
                self.scopes.pop()
            case Switch():
                item.test = self.test(item.cond)
                for _, body in item.cases:
                    self.nest(body)
            case Exit():
                if item.step is not None:
                    self.step(item.step)
            case Sweep():
                self.sweep(item)
            case Barrier():
                pass

    def sweep(self, sweep: Sweep) -> None:
        self.step(sweep.whole)
        self.scopes.append({})
        passed = Var(sweep.passed, sweep.whole.line, is_fixed=True)
        self.variables.append(passed)
        self.scopes[-1][passed.name] = passed
        self.step(sweep.index)
        sweep.test = self.test(sweep.cond)
        for step in (sweep.body, sweep.guarded):
            self.step(step)
        self.visit(sweep.stride, Step(sweep.stride))
        self.scopes.pop()

    def test(self, cond: Node) -> Step:
        step = Step(cond)
        self.visit(cond, step)
        step.init = self.purity.facts(cond)
        step.atomic = self.is_atomic(cond)
        return step

    def once(self, once: Once) -> None:
        for bind in once.binds:  # the arguments, in the caller's scope
            value = _value(bind.node)
            if value is not None:
                step = bind if isinstance(bind, Step) else Step(bind.node)
                self.visit(value, step)
        self.scopes.append({})
        for bind in once.binds:
            if isinstance(bind, Fixed):
                self.fixed(bind)
            elif not self.alias(bind):
                self.step(bind)
        result = once.result
        if result is not None:
            self.step(result)
        self.items(once.body)
        self.scopes.pop()
        if result is not None and result.declares is not None:
            self.scopes[-1][result.declares.name] = result.declares

    def alias(self, bind: Step) -> bool:
        """A reference parameter bound to a plain variable is that variable."""
        declarator = bind.node.get("declarator")
        if declarator is None or declarator.kind != "init_declarator":
            return False
        inner, value = declarator.need("declarator"), declarator.need("value")
        if inner.kind != "reference_declarator" or value.kind != "identifier":
            return False
        var = value.var
        if not isinstance(var, Var):
            return False
        self.scopes[-1][declared_name(inner).text] = var
        bind.node = Node("expression_statement", bind.node.line)
        bind.reads.clear()
        return True

    def fixed(self, fixed: Fixed) -> None:
        node = fixed.node
        step = Step(node)
        if node.kind in ("alias_declaration", "type_definition"):
            named = node.get("name") or next(
                (k for k in node.kids if k.kind in _NAMES), node.get("declarator")
            )
            if named is None:
                raise unsupported("a type declared in this form", node.line)
            named = declared_name(named)
            for kid in node.kids:
                if kid is not named:
                    self.visit(kid, step)
            self.declare(Var(named.text, node.line, is_fixed=True), named)
        elif node.kind == "declaration" and node.get("declarator") is not None:
            declarator = node.need("declarator")
            named = declared_name(declarator)
            for leaf in node.walk():
                if leaf is not named and leaf.kind in _NAMES:
                    self.read(leaf, step)
            var = Var(named.text, node.line, is_fixed=True, is_lds=fixed.lds)
            var.is_array = any(k.kind == "array_declarator" for k in declarator.walk())
            self.declare(var, named)
        elif node.kids and node.kids[0].kind in _TYPES:
            named_type = node.kids[0].get("name")
            if named_type is not None:
                self.declare(Var(named_type.text, node.line, is_fixed=True), named_type)
        fixed.reads = step.reads

    def read(self, named: Node, step: Step) -> Var | None:
        var = self.find(named)
        if var is not None:
            step.reads.add(var)
        return var

    def step(self, step: Step) -> None:
        node = step.node
        step.atomic = self.is_atomic(node)
        if node.kind == "declaration":
            self.declaration(node, step)
            return
        if node.kind == "expression_statement" and node.kids:
            expr = node.kids[0]
            target = _plain_target(expr)
            if target is not None:
                var = self.read(target, step)
                if var is not None and not var.is_reference:
                    right = expr.get("right")
                    if right is not None:
                        self.visit(right, step)
                    step.writes.add(var)
                    step.target = var
                    step.init = self.purity.facts(expr)
                    var.assigns.append((step, right))
                    return
        self.visit(node, step)

    def declaration(self, node: Node, step: Step) -> None:
        declarator = node.need("declarator")
        named = declared_name(declarator)
        value = declarator.get("value") if declarator.kind == "init_declarator" else None
        inner = (
            declarator.need("declarator") if declarator.kind == "init_declarator" else declarator
        )
        for kid in (*(k for k in node.kids if k is not declarator), *declarator.kids):
            if kid is not named:
                self.visit(kid, step, skip=named)
        var = Var(named.text, node.line, decl=step)
        kinds = {k.kind for k in inner.walk()}
        var.is_reference = "reference_declarator" in kinds
        var.is_array = "array_declarator" in kinds
        if "function_declarator" in kinds and value is None:
            raise unsupported("a declaration of this form", node.line)
        head = [str(k) for k in node.kids if k is not declarator]
        var.is_auto = "auto" in " ".join(head).split()
        var.is_lambda = value is not None and value.kind == "lambda_expression"
        var.head = [k for k in node.kids if k is not declarator and k.text != ";"]
        var.shape = [leaf for leaf in inner.leaves() if leaf is not named]
        var.type_text = var.type_id()
        if "structured_binding_declarator" in kinds:
            raise unsupported("structured bindings between barriers", node.line)
        step.declares = self.declare(var, named)
        step.writes.add(var)
        step.target = var
        if value is not None:
            step.init = self.purity.address(value) if var.is_reference else self.purity.facts(value)
            if var.is_reference:
                self.keep_address(value, step)
                var.refers = self.root(value)
        var.assigns.append((step, value))

    def visit(self, node: Node, step: Step, skip: Node | None = None) -> None:
        """Reads, changes and escapes in any piece of syntax."""
        kind = node.kind
        if node is skip:
            return
        if kind in _NAMES:
            var = self.read(node, step)
            if var is not None and var.is_array and not var.is_fixed:
                self.change(var, step, escapes=True)
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
            if base.kind in _NAMES:
                self.read(base, step)
            else:
                self.visit(base, step)
            self.visit(node.need("indices"), step)
        elif kind == "field_expression" and node.need("argument").kind in _NAMES:
            self.read(node.need("argument"), step)
        elif kind in _TYPES:
            raise unsupported("a type declared inside a statement", node.line)
        elif kind in _UNEVALUATED:
            for one in node.walk():
                if one.kind in _NAMES:
                    self.read(one, step)
        else:
            for kid in node.kids:
                self.visit(kid, step, skip)

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
            for one in inner.walk():
                if one is not named and one.kind in _NAMES:
                    self.read(one, step)
            self.local(named)

    def assignment(self, node: Node, step: Step) -> None:
        target = node.get("left") or node.need("argument")
        right = node.get("right")
        if right is not None:
            self.visit(right, step)
        var = self.root(target)
        if target.kind in _NAMES:
            self.read(target, step)
        else:
            self.visit(target, step)
        if var is not None and not var.is_fixed:
            self.change(var, step)

    def keep_address(self, target: Node, step: Step, *, kept: bool = True) -> None:
        self.visit(target, step) if target.kind not in _NAMES else self.read(target, step)
        var = self.root(target)
        if var is not None and not var.is_fixed:
            self.change(var, step, escapes=kept)

    def root(self, node: Node) -> Var | None:
        """The variable whose own storage an lvalue is part of."""
        while True:
            if node.kind in _NAMES:
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
        if function.kind in _NAMES:
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
            elif arg.kind in _NAMES:
                self.read(arg, step)
            else:
                self.visit(arg, step)
            if lvalue and var is not None:
                handed = var.is_array and arg.kind in _NAMES
                if handed or opaque_callee or word == "swap" or _by_reference(known, i):
                    self.change(var, step)

    def is_atomic(self, node: Node) -> bool:
        atomics = self.unit.with_property("atomic")
        return any(
            one.text.startswith(ATOMIC_PREFIXES) or one.text in atomics for one in node.leaves()
        )


def _value(node: Node) -> Node | None:
    declarator = node.get("declarator")
    return declarator.get("value") if declarator is not None else node.get("value")


def _plain_target(expr: Node) -> Node | None:
    if expr.kind == "assignment_expression":
        left = expr.need("left")
    elif expr.kind == "update_expression":
        left = expr.need("argument")
    else:
        return None
    return left if left.kind == "identifier" else None


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
