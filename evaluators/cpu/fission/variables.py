"""Which variable each name of a kernel means, and what each of its statements does to them."""

from evaluators.cpu.fission.exchange import declared_name
from evaluators.cpu.fission.ir import (
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
from evaluators.cpu.fission.reading import NAMES, Reader, looked_up
from evaluators.cpu.fission.source import Function
from evaluators.cpu.fission.tree import TYPES, Node, unsupported


class Resolver(Reader):
    """Walks a kernel's items once, in order."""

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
        kinds = {one.kind for one in inner.walk()}
        if "reference_declarator" not in kinds or "pointer_declarator" in kinds:
            return False
        if value.kind != "identifier":
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
                (k for k in node.kids if k.kind in NAMES), node.get("declarator")
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
            for leaf in looked_up(node):
                if leaf is not named:
                    self.read(leaf, step)
            var = Var(named.text, node.line, is_fixed=True, is_lds=fixed.lds)
            var.dims = sum(k.kind == "array_declarator" for k in declarator.walk())
            var.is_array = var.dims > 0
            self.declare(var, named)
        elif node.kids and node.kids[0].kind in TYPES:
            named_type = node.kids[0].get("name")
            if named_type is not None:
                self.declare(Var(named_type.text, node.line, is_fixed=True), named_type)
        fixed.reads = step.reads

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
        var.is_array = "array_declarator" in kinds and "parenthesized_declarator" not in kinds
        if "function_declarator" in kinds and value is None:
            raise unsupported("a declaration of this form", node.line)
        var.dims = sum(k.kind == "array_declarator" for k in inner.walk())
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
