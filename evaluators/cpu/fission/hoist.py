"""Collective calls inside expressions: put ahead of the statement, device functions in place."""

from collections.abc import Set
from dataclasses import replace
from typing import Protocol

from evaluators.cpu.fission import group_calls, groups, inline
from evaluators.cpu.fission.exchange import exchanged
from evaluators.cpu.fission.ir import Branch, Context, Exit, Fixed, Item, Once, Step
from evaluators.cpu.fission.names import BARRIERS, BLOCK_VOTES, WAVE, WAVE_BARRIERS
from evaluators.cpu.fission.source import Function, Unit
from evaluators.cpu.fission.tree import Node, callee, group, leaf, name, unsupported

MAX_DEPTH = 8


class Statements(Protocol):
    """The lowering of statements, which hoisting calls back for what it puts in place."""

    @property
    def unit(self) -> Unit: ...

    @property
    def words(self) -> Set[str]:
        """Names of operations and device functions that are collective."""

    @property
    def slots(self) -> dict[str, str]:
        """Block-level declarations by name."""

    def fresh(self, stem: str) -> str: ...
    def collective(self, node: Node) -> bool: ...
    def block(self, node: Node, context: Context) -> list[Item]: ...
    def step(self, node: Node, context: Context) -> Step: ...
    def expression(self, expr: Node, context: Context) -> list[Item]: ...


class Hoisting:
    """Takes collective calls out of expressions."""

    def __init__(self, lowering: Statements) -> None:
        self.lowering = lowering

    def hoist(self, node: Node, out: list[Item], context: Context, *, several: bool) -> None:
        """Replace every collective call in node by its value, computed by items added to out."""
        lowering = self.lowering
        if not lowering.collective(node):
            return
        if node.kind == "lambda_expression":
            raise unsupported("a barrier or wavefront operation in a lambda", node.line)
        if node.kind == "conditional_expression" or (
            node.kind == "binary_expression" and node.kids[1].text in ("&&", "||")
        ):
            self.conditional(node, out, context)
            return
        for kid in node.kids:
            self.hoist(kid, out, context, several=several)
        if node.kind != "call_expression":
            return
        word = callee(node)
        args = [k for k in node.need("arguments").kids if k.kind not in ("(", ")", ",")]
        if word in WAVE or word in BLOCK_VOTES:
            slot = lowering.fresh("slot")
            puts, barrier, value = exchanged(word, args, slot, node.line)
            lowering.slots.update(barrier.slots)
            out += [*puts, barrier]
            node.become(value)
            if several:
                self.keep(node, out)
        elif word in BARRIERS or word in WAVE_BARRIERS:
            raise unsupported(f"{word} inside an expression", node.line)
        elif word in lowering.words:
            self.inline(node, word, args, out, context)

    def keep(self, node: Node, out: list[Item]) -> None:
        """Store the value at once, since another operation follows before it is used."""
        if node.kind == "uniform_value":
            return
        kept = self.lowering.fresh("value")
        value = node.copy()
        out.append(
            inline.declare(
                group("type", node.line, "KsDecay < decltype (", value.copy(), ") >"), kept, value
            )
        )
        node.become(name(kept, node.line))

    def conditional(self, node: Node, out: list[Item], context: Context) -> None:
        """c ? a : b, a && b and a || b, where only some threads evaluate what follows."""
        line = node.line
        lowering = self.lowering
        fresh = lowering.fresh("choice")
        result = name(fresh, line)
        if node.kind == "conditional_expression":
            cond = node.need("condition")
            sides = [node.need("consequence"), node.need("alternative")]
        else:
            cond, sides = node.kids[0], [node.kids[2]]
        self.hoist(cond, out, context, several=True)
        if len(sides) == 1 and not lowering.collective(sides[0]):
            return
        bodies: list[list[Item]] = []
        for side in sides:
            body: list[Item] = []
            self.hoist(side, body, context, several=False)
            copied = group("assignment_expression", line, result.copy(), "=", side.copy())
            _roles(copied)
            body.append(Step(group("expression_statement", line, copied, ";")))
            bodies.append(body)
        if len(sides) == 1:
            first: Node = group("call", line, "bool (", cond, ")")
            out.append(inline.declare(leaf("bool", line, "primitive_type"), fresh, first))
            test: Node = result.copy()
            if node.kids[1].text == "||":
                test = group("unary_expression", line, "!", test)
            bodies.append([])
        else:
            typed = group(
                "type",
                line,
                "KsDecay < decltype ( true ?",
                sides[0].copy(),
                ":",
                sides[1].copy(),
                ") >",
            )
            out.append(inline.declare(typed, fresh, None))
            test = cond
        whole = Step(group("expression_statement", line, ";"))
        out.append(
            Branch(
                cond=test,
                then=bodies[0],
                orelse=bodies[1],
                line=line,
                constexpr=False,
                whole=whole,
                collective=True,
            )
        )
        node.become(result)

    def leave(self, node: Node, context: Context) -> list[Item]:
        """return: from the kernel, or from the device function put in place."""
        step = self.lowering.step(node, context)
        value = next((k for k in node.kids if k.kind not in ("return", ";")), None)
        items = [] if value is None else self.lowering.expression(value, context)
        return [*items, Exit(node, "return", context.once, step)]

    def set_result(self, node: Node, context: Context) -> None:
        """return value: becomes an assignment to the call's result, and leaving."""
        once = context.once
        value = next((k for k in node.kids if k.kind not in ("return", ";")), None)
        if value is None or once is None or once.result is None:
            return
        target = once.result.declares_text
        if value.kind == "assignment_expression" and value.kids[0].text == target:
            return
        assert target is not None
        assigned = group("assignment_expression", node.line, name(target, node.line), "=", value)
        _roles(assigned)
        node.kids = [leaf("return", node.line, "return"), assigned, leaf(";", node.line, ";")]

    def inline(
        self, call: Node, word: str, args: list[Node], out: list[Item], context: Context
    ) -> None:
        """Put a device function's body in place of its call."""
        lowering = self.lowering
        line = call.line
        if context.depth >= MAX_DEPTH:
            raise unsupported(f"{word}, which calls itself round a barrier", line)
        function = self.choose(word, len(args), line)
        node = function.node.copy()
        own = inline.with_own_names(function, node, lowering.fresh)
        params = [k for k in inline.parameters(node) if k.kind.endswith("declaration")]
        kinds = context.groups
        if lowering.unit.grouped:
            kinds = group_calls.lower(
                node, groups.bound(params, args, kinds), lowering.unit.names, line=function.at(line)
            )
        binds: list[Step | Fixed] = inline.template(function, own, call, params, args)
        for param, arg in zip(params, inline.with_defaults(params, args, word, line), strict=True):
            binds.append(inline.bind(param, arg))
        once = Once(
            binds=binds,
            result=None,
            body=[],
            line=line,
            label=lowering.fresh("end"),
            where=f"the function put in place at line {line}",
        )
        kind = node.need("type")
        if str(kind) != "void" or node.need("declarator").kind != "function_declarator":
            if str(kind) == "auto":
                raise unsupported(f"{word}: it holds a barrier and returns auto", line)
            once.result = inline.result(node, kind, lowering.fresh("result"))
        inside = replace(
            context, once=once, loop=None, switch=None, depth=context.depth + 1, groups=kinds
        )
        once.body = lowering.block(node.need("body"), inside)
        if once.body and isinstance(once.body[-1], Exit):
            once.body.pop()
        out.append(once)
        if once.result is None:
            call.become(leaf("", line, "void"))
        else:
            assert once.result.declares_text is not None
            call.become(name(once.result.declares_text, line))

    def choose(self, word: str, count: int, line: int) -> Function:
        found = [
            f
            for f in self.lowering.unit.named(word)
            if sum(p.kind == "parameter_declaration" for p in f.params) <= count <= len(f.params)
        ]
        if len(found) != 1 or found[0].kernel:
            raise unsupported(f"{word}: an overloaded function that holds a barrier", line)
        return found[0]


def _roles(assignment: Node) -> None:
    for kid, role in zip(assignment.kids, ("left", "operator", "right"), strict=True):
        kid.field = role
