"""From the syntax tree of a kernel to items: statements of one thread, and collective parts."""

from dataclasses import replace

from evaluators.cpu.fission import declarations, exchange, group_calls
from evaluators.cpu.fission.exits import exits
from evaluators.cpu.fission.hoist import Hoisting
from evaluators.cpu.fission.ir import (
    Barrier,
    Branch,
    Context,
    Exit,
    Fixed,
    Item,
    Loop,
    Once,
    Scope,
    Step,
    Switch,
)
from evaluators.cpu.fission.names import BARRIERS, COLLECTIVES, WAVE_BARRIERS
from evaluators.cpu.fission.source import Function, Unit
from evaluators.cpu.fission.tree import TYPES, Node, check_parsed, group, leaf, unsupported
from evaluators.cpu.fission.vectors import sweep

_FIXED = frozenset(
    [
        "alias_declaration",
        "namespace_alias_definition",
        "static_assert_declaration",
        "type_definition",
        "using_declaration",
    ]
)
_CHANGES = frozenset({"assignment_expression", "update_expression"})


class Lowering:
    """One kernel's lowering."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.words = COLLECTIVES | unit.with_property("collective")
        self.slots: dict[str, str] = {}  # block-level declarations by name
        self.serial = 0
        self.hoisting = Hoisting(self)

    def fresh(self, stem: str) -> str:
        self.serial += 1
        return f"ks_{stem}{self.serial}"

    def collective(self, node: Node) -> bool:
        return any(one.text in self.words for one in node.leaves())

    def kernel(self, function: Function) -> list[Item]:
        check_parsed(function.body)
        found = group_calls.lower(function.node, None, self.unit.names) if self.unit.grouped else {}
        return self.block(function.body, Context(groups=found))

    def block(self, node: Node, context: Context) -> list[Item]:
        """The statements of a compound statement, or the one statement itself."""
        if node.kind != "compound_statement":
            return self.statement(node, context)
        items: list[Item] = []
        for kid in node.kids:
            items += self.statement(kid, context)
        return items

    def statement(self, node: Node, context: Context) -> list[Item]:
        kind = node.kind
        if kind in ("{", "}", ";"):
            return []
        if kind in _FIXED:
            return [Fixed(node)]
        if kind in TYPES:
            return [Fixed(group("declaration", node.line, node, ";"))]
        if kind == "shared_declaration":
            return exchange.lds(node)
        if kind == "declaration":
            return self.declaration(node, context)
        if kind in ("break_statement", "continue_statement", "return_statement"):
            return self.leave(node, context)
        if kind == "labeled_statement" or kind == "goto_statement":
            raise unsupported("goto and labels between barriers", node.line)
        collective = self.collective(node)
        if kind == "if_statement" and (collective or exits(node)):
            return self.branch(node, context)
        if not collective:
            for one in node.walk():
                if one.kind == "shared_declaration":
                    raise unsupported("LDS declared in a nested statement", one.line)
            step = self.step(node, context)
            found = sweep(step, self.fresh("passed")) if kind == "for_statement" else None
            return [found or step]
        match kind:
            case "compound_statement":
                return [Scope(self.block(node, context))]
            case "expression_statement":
                return self.expression(node.kids[0], context)
            case "for_statement":
                return self.for_loop(node, context)
            case "while_statement" | "do_statement":
                return self.while_loop(node, context)
            case "switch_statement":
                return self.switch(node, context)
        raise unsupported(
            f"a barrier or wavefront operation in a {kind.replace('_', ' ')}", node.line
        )

    def step(self, node: Node, context: Context) -> Step:
        found: list[tuple[Node, Loop | Once | Switch | None]] = []
        for one in exits(node):
            if one.kind == "return_statement":
                self.hoisting.set_result(one, context)
                found.append((one, context.once))
            elif one.kind == "break_statement" and context.switch is not None:
                found.append((one, context.switch))
            elif context.loop is not None and one.kind == "continue_statement":
                found.append((one, context.loop.rest))
                context.loop.has_continue = True
            elif context.loop is not None:
                found.append((one, context.loop))
            else:
                raise unsupported("break or continue outside a loop", one.line)
        return Step(node, exits=found)

    def declaration(self, node: Node, context: Context) -> list[Item]:
        """One step for each declarator; constexpr and types stand at block level."""
        texts = {kid.text or str(kid) for kid in node.kids if kid.field != "declarator"}
        if "constexpr" in texts or not node.all("declarator"):
            return [Fixed(node)]
        if "static" in texts and "const" not in texts:
            raise unsupported("static variables in kernels", node.line)
        if "static" in texts:
            return [Fixed(node)]
        items: list[Item] = [*declarations.apart(node, self.fresh)]
        head = [
            kid for kid in node.kids if kid.field != "declarator" and kid.text not in (",", ";")
        ]
        for declarator in node.all("declarator"):
            declarations.guard_bounds(declarator)
            declarations.with_equals(head, declarator)
            kept = declarations.without_volatile(head, declarator)
            one = Node("declaration", node.line, "", [k.copy() for k in kept])
            one.kids.append(declarator)
            value = node.get("value") or node.get("default_value")
            if value is not None:
                raise unsupported("a declaration of this form", node.line)
            one.kids.append(leaf(";", node.line))
            if self.collective(declarator):
                if declarator.kind != "init_declarator":
                    raise unsupported("a declaration of this form", node.line)
                self.hoist_all(declarator.need("value"), items, context)
            items.append(Step(one))
        return items

    def leave(self, node: Node, context: Context) -> list[Item]:
        kind = node.kind.split("_")[0]
        if kind == "return":
            return self.hoisting.leave(node, context)
        step = self.step(node, context)
        return [Exit(node, kind, step.exits[0][1], step)]

    def branch(self, node: Node, context: Context) -> list[Item]:
        clause = node.need("condition")
        cond = clause.get("value") or clause
        collective = self.collective(node)
        if clause.get("initializer") or cond.kind == "declaration":
            if not collective:
                return [self.step(node, context)]
            raise unsupported("a declaration in the condition round a barrier", node.line)
        whole = self.step(node, context)
        items: list[Item] = []
        self.hoist_all(cond, items, context)
        alternative = node.get("alternative")
        return [
            *items,
            Branch(
                cond=cond,
                then=self.block(node.need("consequence"), context),
                orelse=self.block(alternative.kids[1], context) if alternative else [],
                line=node.line,
                constexpr=node.has("constexpr"),
                whole=whole,
                collective=collective,
            ),
        ]

    def for_loop(self, node: Node, context: Context) -> list[Item]:
        start = node.get("initializer")
        items: list[Item] = []
        if start is not None and start.kind == "declaration":
            items = self.declaration(start, context)
        elif start is not None:
            items = self.expression(start, context)
        loop = self.loop(node, node.get("condition"), context)
        update = node.get("update")
        if update is not None:
            loop.update = self.expression(update, context)
        for item in loop.update:
            if isinstance(item, Step):
                item.update_of = loop
        return [Scope([*items, loop])]

    def while_loop(self, node: Node, context: Context) -> list[Item]:
        clause = node.need("condition")
        if clause.get("initializer") or clause.has("declaration"):
            raise unsupported("a declaration in the condition round a barrier", node.line)
        loop = self.loop(node, clause.get("value") or clause, context)
        loop.test_last = node.kind == "do_statement"
        return [loop]

    def loop(self, node: Node, cond: Node | None, context: Context) -> Loop:
        where = f"the rest of the loop at line {node.line}"
        rest = Once([], None, [], node.line, self.fresh("next"), where)
        loop = Loop([], cond, [], [], node.line, test_last=False, rest=rest)
        if cond is not None:
            self.hoist_all(cond, loop.pre, context)
        inside = replace(context, loop=loop, switch=None)
        body = node.need("body")
        for statement in body.kids if body.kind == "compound_statement" else [body]:
            items = self.statement(statement, inside)
            (rest if loop.has_continue else loop).body.extend(items)
        if loop.has_continue:
            loop.body.append(rest)
        return loop

    def switch(self, node: Node, context: Context) -> list[Item]:
        cond = node.need("condition").need("value")
        items: list[Item] = []
        self.hoist_all(cond, items, context)
        switch = Switch(cond=cond, cases=[], line=node.line)
        inside = replace(context, switch=switch)
        for case in node.need("body").kids:
            if case.kind in ("{", "}"):
                continue
            if case.kind != "case_statement":
                raise unsupported("a switch of this form", case.line)
            colon = next(i for i, kid in enumerate(case.kids) if kid.kind == ":")
            body: list[Item] = []
            for kid in case.kids[colon + 1 :]:
                if kid.kind == "declaration":
                    raise unsupported("a declaration in a case, outside braces", kid.line)
                body += self.statement(kid, inside)
            switch.cases.append((case.get("value"), body))
        return [*items, switch]

    def expression(self, expr: Node, context: Context) -> list[Item]:
        """An expression as a statement."""
        if expr.kind == "comma_expression":
            return [
                *self.expression(expr.need("left"), context),
                *self.expression(expr.need("right"), context),
            ]
        if not self.collective(expr):
            return [self.step(group("expression_statement", expr.line, expr, ";"), context)]
        callee = expr.get("function")
        if expr.kind == "call_expression" and callee is not None:
            if callee.text in BARRIERS:
                return [Barrier(expr.line, block=True)]
            if callee.text in WAVE_BARRIERS:
                return self.wave_barrier(expr, context)
        items: list[Item] = []
        self.hoist_all(expr, items, context)
        if expr.kind != "identifier" and expr.kind != "void":
            items.append(Step(group("expression_statement", expr.line, expr, ";")))
        return items

    def wave_barrier(self, call: Node, context: Context) -> list[Item]:
        """With a mask or without."""
        masks = [k for k in call.need("arguments").kids if k.kind not in ("(", ")", ",")]
        if not masks:
            return [Barrier(call.line, block=False)]
        items: list[Item] = []
        self.hoist_all(masks[0], items, context)
        put, barrier = exchange.masked(masks[0], self.fresh("slot"), call.line)
        self.slots.update(barrier.slots)
        return [*items, put, barrier]

    def hoist_all(self, expr: Node, out: list[Item], context: Context) -> None:
        """Put what is collective in an expression ahead of it."""
        count = sum(one.text in self.words for one in expr.leaves())
        if count == 0:
            return
        for one in expr.walk():
            if one.kind == "lambda_expression" and self.collective(one):
                raise unsupported("a barrier or wavefront operation in a lambda", one.line)
            if one is not expr and one.kind in _CHANGES:
                raise unsupported(
                    "an assignment inside an expression with a barrier or wavefront operation",
                    one.line,
                )
        self.hoisting.hoist(expr, out, context, several=count > 1)
