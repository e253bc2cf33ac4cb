"""A device function's parameters, template and result as declarations at the place of its call."""

from collections.abc import Callable

from evaluators.cpu.fission import groups
from evaluators.cpu.fission.declarations import array_dims, decayed
from evaluators.cpu.fission.exchange import declared_name
from evaluators.cpu.fission.ir import Fixed, Step
from evaluators.cpu.fission.source import Function
from evaluators.cpu.fission.tree import Node, group, leaf, name, unsupported

NAMES = ("identifier", "type_identifier", "namespace_identifier")


def with_own_names(function: Function, node: Node, fresh: Callable[[str], str]) -> Node | None:
    """Its template, None where it is none, whose parameters have names of their own there and in
    the node, a copy of the function: where it is called others may have theirs."""
    if function.template is None:
        return None
    own = function.template.copy()
    names = {one.text: fresh(one.text) for one in map(_named, _heads(own)) if one is not None}
    for one in (*own.leaves(), *node.leaves()):
        if one.kind in NAMES and one.text in names:
            one.text = names[one.text]
    return own


def _heads(template: Node) -> list[Node]:
    return [k for k in template.kids if k.kind.endswith("declaration")]


def _named(head: Node) -> Node | None:
    """What a template's parameter is called; None where it has no name."""
    if head.kind.startswith("optional"):
        left = head.get("declarator") or head.get("name")
        if left is not None:
            return declared_name(left)
    default = head.get("default_value") or head.get("default_type")
    within = {id(one) for one in default.leaves()} if default is not None else set()
    named = (k for k in head.leaves() if "identifier" in k.kind and id(k) not in within)
    return next(reversed([*named]), None)


def template(
    function: Function, own: Node | None, call: Node, params: list[Node], args: list[Node]
) -> list[Step | Fixed]:
    """Declarations of the template's parameters: given, deduced or default. own: the template, see
    with_own_names()."""
    if function.template is None or own is None:
        return []
    callee_node = call.need("function")
    given: list[Node] = []
    if callee_node.kind == "template_function":
        listed = callee_node.need("arguments")
        given = [k for k in listed.kids if k.kind not in ("<", ">", ",")]
    binds: list[Step | Fixed] = []
    line = call.line
    for i, (head, written) in enumerate(zip(_heads(own), _heads(function.template), strict=True)):
        named, known = _named(head), _named(written)
        if "variadic" in head.kind:
            raise unsupported(f"{function.name}: a variadic template round a barrier", line)
        is_type = head.kind.endswith("type_parameter_declaration")
        if named is None or known is None:
            continue  # nobody can ask for it
        default = head.get("default_value") or head.get("default_type")
        if i < len(given):
            value: Node | None = given[i].copy()
        else:
            find = _deduce if is_type else _deduce_bound
            value = find(named.text, params, args) or groups.deduced(named.text, params, args)
            value = value or (default.copy() if default else None)
        if value is None:
            what = f"a call of {function.name} that leaves its template argument"
            left_out = f"{what} {known.text} to be found"
            raise unsupported(f"{left_out}: name it between < and >", line)
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


def _deduce(parameter: str, params: list[Node], args: list[Node]) -> Node | None:
    """The type parameter from the first argument whose parameter is T, T& or T*."""
    for param, arg in zip(params, args, strict=False):
        kind = param.get("type")
        if kind is None or kind.text != parameter:
            continue
        declarator = str(param.get("declarator") or "")
        wrap = "KsPointee" if "*" in declarator or "[" in declarator else "KsDecay"
        return group("type", arg.line, f"{wrap} < decltype (", arg.copy(), ") >")
    return None


def _deduce_bound(parameter: str, params: list[Node], args: list[Node]) -> Node | None:
    """The bound N from the first argument whose parameter is an array with that bound."""
    for param, arg in zip(params, args, strict=False):
        dims = array_dims(param.get("declarator") or leaf("", arg.line))
        if parameter in dims:
            stars = "* " * dims.index(parameter)
            whole = group("sizeof_expression", arg.line, f"sizeof ( {stars}(", arg.copy(), ") )")
            one = group("sizeof_expression", arg.line, f"sizeof ( {stars}* (", arg.copy(), ") )")
            return group("binary_expression", arg.line, "int (", whole, "/", one, ")")
    return None


def parameters(function: Node) -> list[Node]:
    declarator = function.need("declarator")
    while declarator.kind != "function_declarator":
        declarator = declarator.get("declarator") or declarator.kids[-1]
    return declarator.need("parameters").kids


def with_defaults(params: list[Node], args: list[Node], word: str, line: int) -> list[Node]:
    values = [arg.copy() for arg in args]
    for param in params[len(args) :]:
        default = param.get("default_value")
        if default is None:
            raise unsupported(f"{word} with {len(args)} arguments", line)
        values.append(default.copy())
    return values


def bind(param: Node, arg: Node) -> Step:
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
        declarator = decayed(declarator)
    bound = group("init_declarator", arg.line, declarator, "=", arg)
    bound.field, declarator.field, arg.field = "declarator", "declarator", "value"
    node = Node("declaration", arg.line, "", [*head, bound, leaf(";", arg.line)])
    return Step(node)


def declare(kind: Node, fresh: str, value: Node | None) -> Step:
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


def result(function: Node, kind: Node, fresh: str) -> Step:
    stars = str(function.need("declarator")).split("(")[0].count("*")
    if "&" in str(function.need("declarator")).split("(")[0]:
        raise unsupported("a reference returned round a barrier", function.line)
    quals = [k.copy() for k in function.kids if k.kind == "type_qualifier" and k.text == "const"]
    typed = group("type", function.line, *(quals if stars else []), kind.copy(), "*" * stars)
    return declare(typed, fresh, None)
