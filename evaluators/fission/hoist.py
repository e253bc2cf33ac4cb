"""Collective calls inside expressions: put ahead of the statement, device functions in place."""

from dataclasses import replace
from typing import TYPE_CHECKING

from evaluators.fission.exchange import declared_name, exchanged
from evaluators.fission.ir import Branch, Exit, Fixed, Item, Once, Step
from evaluators.fission.names import BARRIERS, BLOCK_VOTES, WAVE, WAVE_BARRIERS
from evaluators.fission.source import Function
from evaluators.fission.tree import Node, group, leaf, name, unsupported

if TYPE_CHECKING:
    from evaluators.fission.lower import Context, Lowering

MAX_DEPTH = 8


class Hoisting:
    """Takes collective calls out of expressions."""

    def __init__(self, lowering: "Lowering") -> None:
        self.lowering = lowering

    def hoist(self, node: Node, out: list[Item], context: "Context", *, several: bool) -> None:
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
            put, barrier, value = exchanged(word, args, slot, node.line)
            lowering.slots.update(barrier.slots)
            out += [put, barrier]
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
            _declare(
                group("type", node.line, "KsDecay < decltype (", value.copy(), ") >"), kept, value
            )
        )
        node.become(name(kept, node.line))

    def conditional(self, node: Node, out: list[Item], context: "Context") -> None:
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
            out.append(_declare(leaf("bool", line, "primitive_type"), fresh, first))
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
            out.append(_declare(typed, fresh, None))
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

    def leave(self, node: Node, context: "Context") -> list[Item]:
        """return: from the kernel, or from the device function put in place."""
        step = self.lowering.step(node, context)
        value = next((k for k in node.kids if k.kind not in ("return", ";")), None)
        items = [] if value is None else self.lowering.expression(value, context)
        return [*items, Exit(node, "return", context.once, step)]

    def set_result(self, node: Node, context: "Context") -> None:
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
        self, call: Node, word: str, args: list[Node], out: list[Item], context: "Context"
    ) -> None:
        """Put a device function's body in place of its call."""
        lowering = self.lowering
        line = call.line
        if context.depth >= MAX_DEPTH:
            raise unsupported(f"{word}, which calls itself round a barrier", line)
        function = self.choose(word, len(args), line)
        node = function.node.copy()
        params = [k for k in _parameters(node) if k.kind.endswith("declaration")]
        binds: list[Step | Fixed] = self.template(function, call, params, args)
        for param, arg in zip(params, _with_defaults(params, args, word, line), strict=True):
            binds.append(_bind(param, arg))
        once = Once(binds=binds, result=None, body=[], line=line, label=lowering.fresh("end"))
        kind = node.need("type")
        if str(kind) != "void" or node.need("declarator").kind != "function_declarator":
            if str(kind) == "auto":
                raise unsupported(f"{word}: it holds a barrier and returns auto", line)
            once.result = _result(node, kind, lowering.fresh("result"))
        inside = replace(context, once=once, loop=None, switch=None, depth=context.depth + 1)
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

    def template(
        self, function: Function, call: Node, params: list[Node], args: list[Node]
    ) -> list[Step | Fixed]:
        """Declarations of the template's parameters: given, deduced or default."""
        if function.template is None:
            return []
        callee_node = call.need("function")
        given: list[Node] = []
        if callee_node.kind == "template_function":
            listed = callee_node.need("arguments")
            given = [k for k in listed.kids if k.kind not in ("<", ">", ",")]
        binds: list[Step | Fixed] = []
        heads = [k for k in function.template.kids if k.kind.endswith("declaration")]
        for i, head in enumerate(heads):
            line = call.line
            if "variadic" in head.kind:
                raise unsupported(f"{function.name}: a variadic template round a barrier", line)
            is_type = head.kind.endswith("type_parameter_declaration")
            named = next(k for k in reversed(list(head.leaves())) if "identifier" in k.kind)
            if head.kind.startswith("optional"):
                left = head.get("declarator") or head.get("name")
                named = declared_name(left) if left is not None else named
            default = head.get("default_value") or head.get("default_type")
            if i < len(given):
                value: Node | None = given[i].copy()
            else:
                value = self.deduce(named.text, params, args) if is_type else None
                value = value or (default.copy() if default else None)
            if value is None:
                raise unsupported(f"{function.name}: its template argument {named.text}", line)
            if is_type:
                node = group("alias_declaration", line, "using", name(named.text, line), "=")
                value.field = "value"
                node.kids += [value, leaf(";", line)]
            else:
                kinds = [k.copy() for k in head.kids if k.field == "type"]
                node = group("declaration", line, "constexpr", *kinds)
                bound = group("init_declarator", line, name(named.text, line), "=", value)
                bound.field, bound.kids[0].field, value.field = "declarator", "declarator", "value"
                node.kids += [bound, leaf(";", line)]
            binds.append(Fixed(node))
        return binds

    def deduce(self, parameter: str, params: list[Node], args: list[Node]) -> Node | None:
        """The type parameter from the first argument whose parameter is T, T& or T*."""
        for param, arg in zip(params, args, strict=False):
            kind = param.get("type")
            if kind is None or kind.text != parameter:
                continue
            declarator = str(param.get("declarator") or "")
            wrap = "KsPointee" if "*" in declarator or "[" in declarator else "KsDecay"
            return group("type", arg.line, f"{wrap} < decltype (", arg.copy(), ") >")
        return None


def callee(call: Node) -> str:
    """The called function's own name, without template arguments and namespaces."""
    function = call.get("function")
    if function is None:
        return ""
    if function.kind == "qualified_identifier":
        function = function.kids[-1]
    if function.kind == "template_function":
        function = function.need("name")
    return function.text


def _parameters(function: Node) -> list[Node]:
    declarator = function.need("declarator")
    while declarator.kind != "function_declarator":
        declarator = declarator.get("declarator") or declarator.kids[-1]
    return declarator.need("parameters").kids


def _with_defaults(params: list[Node], args: list[Node], word: str, line: int) -> list[Node]:
    values = [arg.copy() for arg in args]
    for param in params[len(args) :]:
        default = param.get("default_value")
        if default is None:
            raise unsupported(f"{word} with {len(args)} arguments", line)
        values.append(default.copy())
    return values


def _bind(param: Node, arg: Node) -> Step:
    """A parameter as a variable initialised by its argument."""
    declarator = param.get("declarator")
    if declarator is None:
        return Step(group("expression_statement", arg.line, ";"))
    head = [
        k.copy()
        for k in param.kids
        if k.field not in ("declarator", "default_value") and k.kind != "="
    ]
    declarator = declarator.copy()
    if declarator.kind == "array_declarator":
        declarator = group("pointer_declarator", arg.line, "*", declared_name(declarator))
        declarator.kids[1].field = "declarator"
    bound = group("init_declarator", arg.line, declarator, "=", arg)
    bound.field, declarator.field, arg.field = "declarator", "declarator", "value"
    node = Node("declaration", arg.line, "", [*head, bound, leaf(";", arg.line)])
    return Step(node)


def _declare(kind: Node, fresh: str, value: Node | None) -> Step:
    line = kind.line
    named = name(fresh, line)
    kind.field = "type"
    declarator: Node = named
    if value is not None:
        declarator = group("init_declarator", line, named, "=", value)
        named.field, value.field = "declarator", "value"
    declarator.field = "declarator"
    return Step(
        Node("declaration", line, "", [kind, declarator, leaf(";", line)]), declares_text=fresh
    )


def _result(function: Node, kind: Node, fresh: str) -> Step:
    stars = str(function.need("declarator")).split("(")[0].count("*")
    if "&" in str(function.need("declarator")).split("(")[0]:
        raise unsupported("a reference returned round a barrier", function.line)
    quals = [k.copy() for k in function.kids if k.kind == "type_qualifier" and k.text == "const"]
    typed = group("type", function.line, *(quals if stars else []), kind.copy(), "*" * stars)
    return _declare(typed, fresh, None)


def _roles(assignment: Node) -> None:
    for kid, role in zip(assignment.kids, ("left", "operator", "right"), strict=True):
        kid.field = role
