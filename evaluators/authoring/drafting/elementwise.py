"""Kernels that compute each element from those at the same place, as numpy: only these."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from evaluators.authoring.program.cpp import Node, node_text, walk
from evaluators.authoring.program.items import Item, arguments_of, declared, parameter_names
from evaluators.authoring.program.numbers import number
from evaluators.authoring.program.terms import Num

_FUNCTIONS = {
    "exp": "np.exp",
    "exp2": "np.exp2",
    "log": "np.log",
    "log2": "np.log2",
    "log1p": "np.log1p",
    "sqrt": "np.sqrt",
    "tanh": "np.tanh",
    "sin": "np.sin",
    "cos": "np.cos",
    "fabs": "np.abs",
    "abs": "np.abs",
    "fmax": "np.maximum",
    "max": "np.maximum",
    "fmin": "np.minimum",
    "min": "np.minimum",
    "pow": "np.power",
    "floor": "np.floor",
    "ceil": "np.ceil",
}
_SIGNS = ("+", "-", "*", "<", "<=", ">", ">=", "==", "!=")
_PLACE = re.compile(
    r"\(?(?:\((?:size_t|int|unsigned|long long|int64_t)\))?"
    r"blockIdx\.x\)?\*blockDim\.x\+threadIdx\.x"
    r"|threadIdx\.x\+blockIdx\.x\*blockDim\.x|threadIdx\.x\+blockDim\.x\*blockIdx\.x"
    r"|blockDim\.x\*blockIdx\.x\+threadIdx\.x"
)
_STRIDE = re.compile(
    r"=(?:\((?:size_t|int|unsigned|int64_t)\))?"
    r"(?:gridDim\.x\*blockDim\.x|blockDim\.x\*gridDim\.x);$"
)
_FLOATS = ("float", "double")


class _Unclear(Exception):
    """Something that is not surely elementwise."""


@dataclass
class _Body:
    """place: the index's name. arrays: pointers by name; all reads and writes are at [place]."""

    place: str
    arrays: Mapping[str, str]
    scalars: Mapping[str, str]
    device: Mapping[str, Item]
    values: dict[str, str] = field(default_factory=dict)
    out: dict[str, str] = field(default_factory=dict)


def translated(
    kernel: Item, arrays: Mapping[str, str], scalars: Mapping[str, str], device: Mapping[str, Item]
) -> dict[str, str] | None:
    """By output's name, what it is in numpy; None where the kernel is not surely elementwise.

    arrays, scalars: the task's name of each floating array and attribute by the parameter's name.
    """
    body = kernel.node.child_by_field_name("body")
    if body is None:
        return None
    statements = [one for one in body.named_children if one.type != "comment"]
    try:
        place, rest, bounds = _begins(statements)
        made = _Body(place, arrays, scalars, device)
        _run(rest, made, bounds)
    except _Unclear:
        return None
    return made.out or None


def _begins(statements: list[Node]) -> tuple[str, list[Node], bool]:
    """The index's name and what follows; whether it is within bounds already."""
    if len(statements) > 1 and statements[-1].type == "for_statement":
        strides = {_declared_in(one) for one in statements[:-1] if _is_stride(one)}
        if len(strides) == len(statements) - 1:
            return _loop(statements[-1], strides)
    if statements and statements[0].type == "for_statement" and len(statements) == 1:
        return _loop(statements[0], set())
    if not statements or statements[0].type != "declaration":
        raise _Unclear
    return _index(statements[0]), statements[1:], False


def _index(declaration: Node) -> str:
    """int i = blockIdx.x * blockDim.x + threadIdx.x;"""
    found = next((n for n in walk(declaration) if n.type == "init_declarator"), None)
    value = found.child_by_field_name("value") if found is not None else None
    if found is None or value is None or not _PLACE.fullmatch("".join(node_text(value).split())):
        raise _Unclear
    return node_text(found.child_by_field_name("declarator") or found)


def _declared_in(node: Node) -> str:
    found = next((n for n in walk(node) if n.type == "init_declarator"), node)
    return declared(found)


def _is_stride(node: Node) -> bool:
    text = "".join(node_text(node).split())
    return node.type == "declaration" and _STRIDE.search(text) is not None


def _loop(node: Node, strides: Collection[str]) -> tuple[str, list[Node], bool]:
    """for (i = place; i < n; i += stride) over the grid."""
    first, condition, update, body = (
        node.child_by_field_name(f) for f in ("initializer", "condition", "update", "body")
    )
    if first is None or condition is None or update is None or body is None:
        raise _Unclear
    name = _index(first)
    if not re.fullmatch(rf"{name}<\w+", "".join(node_text(condition).split())):
        raise _Unclear
    step = "".join(node_text(update).split()).removeprefix(f"{name}+=")
    if step not in strides and not _STRIDE.fullmatch(f"={step};"):
        raise _Unclear
    kids = body.named_children if body.type == "compound_statement" else [body]
    return name, [one for one in kids if one.type != "comment"], True


def _run(statements: list[Node], body: _Body, bounded: bool) -> None:
    for i, one in enumerate(statements):
        if one.type == "if_statement" and not bounded:
            inside, leaves = _bound(one, body)
            if leaves:
                bounded = True
                continue
            if i != len(statements) - 1:
                raise _Unclear
            _run(inside, body, True)
        elif one.type == "declaration" and bounded:
            _declare(one, body)
        elif one.type == "expression_statement" and bounded:
            _store(one.named_children[0], body)
        else:
            raise _Unclear


def _bound(node: Node, body: _Body) -> tuple[list[Node], bool]:
    """if (i < n) {...}: what is inside; if (i >= n) return: that it leaves."""
    condition, then = (node.child_by_field_name(f) for f in ("condition", "consequence"))
    if condition is None or then is None or node.child_by_field_name("alternative") is not None:
        raise _Unclear
    text = "".join(node_text(condition).strip("()").split())
    if re.fullmatch(rf"{body.place}<\w+|\w+>{body.place}", text):
        kids = then.named_children if then.type == "compound_statement" else [then]
        return [one for one in kids if one.type != "comment"], False
    kids = then.named_children if then.type == "compound_statement" else [then]
    if re.fullmatch(rf"{body.place}>=\w+", text) and [k.type for k in kids] == ["return_statement"]:
        return [], True
    raise _Unclear


def _declare(node: Node, body: _Body) -> None:
    kind = node.child_by_field_name("type")
    if kind is None or node_text(kind) not in _FLOATS:
        raise _Unclear
    for one in node.children_by_field_name("declarator"):
        value, name = one.child_by_field_name("value"), one.child_by_field_name("declarator")
        if one.type != "init_declarator" or value is None or name is None:
            raise _Unclear
        if name.type != "identifier":
            raise _Unclear
        body.values[node_text(name)] = _value(value, body)


def _store(node: Node, body: _Body) -> None:
    """y[i] = value, or y[i] += value."""
    if node.type != "assignment_expression":
        raise _Unclear
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = node_text(node.child_by_field_name("operator") or node)
    if left is None or right is None or left.type != "subscript_expression":
        raise _Unclear
    array = _element(left, body)
    made = _value(right, body)
    if sign in ("+=", "-=", "*="):
        made = f"({body.out.get(array, array)} {sign[0]} {made})"
    elif sign != "=":
        raise _Unclear
    body.out[array] = made


def _element(node: Node, body: _Body) -> str:
    base = node_text(node.child_by_field_name("argument") or node)
    listed = node.child_by_field_name("indices")
    index = "".join(node_text(listed).strip("[]").split()) if listed is not None else ""
    if base not in body.arrays or index != body.place:
        raise _Unclear
    return body.arrays[base]


def _value(node: Node, body: _Body, depth: int = 0) -> str:
    kids = node.named_children
    if depth > 40:
        raise _Unclear
    match node.type:
        case "number_literal":
            read = number(node_text(node))
            if not isinstance(read, Num):
                raise _Unclear
            return repr(read.value)
        case "identifier":
            name = node_text(node)
            if name in body.values:
                return body.values[name]
            if name in body.scalars:
                return body.scalars[name]
        case "subscript_expression":
            array = _element(node, body)
            return body.out.get(array, array)
        case "parenthesized_expression":
            return _value(kids[0], body, depth + 1)
        case "cast_expression":
            if node_text(node.child_by_field_name("type") or node) in _FLOATS:
                return _value(node.child_by_field_name("value") or node, body, depth + 1)
        case "unary_expression":
            if node_text(node)[:1] == "-":
                return f"(-{_value(kids[-1], body, depth + 1)})"
        case "binary_expression":
            return _binary(node, body, depth)
        case "conditional_expression":
            parts = [
                _value(node.child_by_field_name(f) or node, body, depth + 1)
                for f in ("condition", "consequence", "alternative")
            ]
            return f"np.where({', '.join(parts)})"
        case "call_expression":
            return _call(node, body, depth)
    raise _Unclear


def _binary(node: Node, body: _Body, depth: int) -> str:
    sign = node_text(node.child_by_field_name("operator") or node)
    left, right = (
        _value(node.child_by_field_name(side) or node, body, depth + 1)
        for side in ("left", "right")
    )
    whole = all(re.fullmatch(r"-?\d+", side) for side in (left, right))
    if sign in _SIGNS or (sign == "/" and not whole):
        return f"({left} {sign} {right})"
    raise _Unclear


def _call(node: Node, body: _Body, depth: int) -> str:
    name = node_text(node.child_by_field_name("function") or node).split("::")[-1]
    given = [_value(one, body, depth + 1) for one in arguments_of(node)]
    plain = name.removeprefix("__")
    for word in (plain, plain.removesuffix("f")):
        if word in _FUNCTIONS and name not in body.device:
            return f"{_FUNCTIONS[word]}({', '.join(given)})"
    if plain in ("erf", "erff") and name not in body.device:
        return f"erf({given[0]})"
    if plain in ("rsqrt", "rsqrtf"):
        return f"(1 / np.sqrt({given[0]}))"
    if name in body.device:
        return _inlined(body.device[name], given, body, depth)
    raise _Unclear


def _inlined(function: Item, given: Collection[str], body: _Body, depth: int) -> str:
    """A device function of floating values that declares some and returns one."""
    inner = function.node.child_by_field_name("body")
    names = parameter_names(function.node)
    if inner is None or len(names) != len(given) or depth > 10:
        raise _Unclear
    own = _Body("", {}, {}, body.device, dict(zip(names, given, strict=True)))
    statements = [one for one in inner.named_children if one.type != "comment"]
    for one in statements[:-1]:
        if one.type != "declaration":
            raise _Unclear
        _declare(one, own)
    if not statements or statements[-1].type != "return_statement":
        raise _Unclear
    return _value(statements[-1].named_children[0], own, depth + 1)
