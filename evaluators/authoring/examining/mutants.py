"""Broken seeds: a right kernel with one thing changed, as mistakes change it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluators.authoring.program.cpp import Node, Program, node_text, walk
from evaluators.authoring.program.items import declared, flat, parts_of
from evaluators.kernel.front_matter import CLOSING

FLOATS = re.compile(
    r"\b(?:float|double|half|__half|_Float16|__hip_bfloat16|float[234]|double[24])\b"
)
_NUMBER = re.compile(r"(\d+\.\d*|\.\d+|\d+)((?:[eE][-+]?\d+)?)([fF]?)")
_BARRIER = re.compile(r"__syncthreads\s*\(\s*\)")
_SWAPPED = {"fmaxf": "fminf", "fminf": "fmaxf", "max": "min", "min": "max", "fmax": "fmin"}
_ROUNDED = "static_cast<float>(static_cast<__half>({}))"
HALF_HEADER = "#include <hip/hip_fp16.h>\n"
CHANGED = 1.25
"""A constant is changed by this factor."""
LEAST_CONSTANT = 1e-3
"""Smaller ones keep a division from zero: what they are matters on few inputs."""
_NAMES = re.compile(r"(?<![.\w])[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """kind: of the mistake. line: of the seed's file. change: what stood there, and what stands."""

    kind: str
    line: int
    change: str
    text: str


@dataclass(frozen=True, slots=True)
class _Edit:
    kind: str
    start: int
    end: int
    made: str
    header: str = ""


KINDS = (
    "barrier left out",
    "border",
    "tail not written",
    "first or last element skipped",
    "term dropped",
    "sign changed",
    "sum not kept",
    "constant changed",
    "minimum for maximum",
    "sum in half precision",
    "output of zeros",
)
"""What mistakes are made, those that most tests should find last."""


def mutants(seed: str, most: int, *, exact: bool = True) -> list[Mutant]:
    """At most so many, spread over all kinds and over the seed's code.

    exact: whether outputs are more exact than half precision, so that sums in it are mistakes.
    """
    begin = seed.index(CLOSING) + len(CLOSING)
    head, code = seed[:begin], seed[begin:]
    program = Program(code)
    by_kind: dict[str, list[_Edit]] = {kind: [] for kind in KINDS}
    for edit in _edits(program):
        if exact or edit.kind != "sum in half precision":
            by_kind[edit.kind].append(edit)
    chosen = _spread(by_kind, most)
    first_line = head.count("\n")
    return [_mutant(program, head, edit, first_line) for edit in chosen]


def _spread(by_kind: dict[str, list[_Edit]], most: int) -> list[_Edit]:
    """One of each kind in turn; of a kind the first, the last, and those between."""
    queues = [_ends_first(edits) for edits in by_kind.values() if edits]
    chosen: list[_Edit] = []
    while len(chosen) < most and any(queues):
        for queue in queues:
            if queue and len(chosen) < most:
                chosen.append(queue.pop(0))
    return chosen


def _ends_first(edits: Sequence[_Edit]) -> list[_Edit]:
    left, found = list(edits), []
    while left:
        found.append(left.pop(0))
        if left:
            found.append(left.pop())
    return found


def _mutant(program: Program, head: str, edit: _Edit, first_line: int) -> Mutant:
    data = program.data
    before = data[edit.start : edit.end].decode()
    text = (data[: edit.start] + edit.made.encode() + data[edit.end :]).decode()
    return Mutant(
        kind=edit.kind,
        line=first_line + program.line(edit.start),
        change=f"{_short(before)} -> {_short(edit.made) or 'nothing'}",
        text=f"{head}\n{edit.header}{text}" if edit.header else head + text,
    )


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 60 else plain[:57] + "..."


def _edits(program: Program) -> Iterator[_Edit]:
    for item in flat(parts_of(program)):
        if item.kind not in ("kernel", "device") or item.node.type != "function_definition":
            continue
        body = item.node.child_by_field_name("body")
        if body is None:
            continue
        floats = _floating_names(item.node)
        kernel = item.kind == "kernel"
        for found in _BARRIER.finditer(program.code[body.start_byte : body.end_byte].decode()):
            start = body.start_byte + found.start()
            yield _Edit("barrier left out", start, start + len(found[0]), "")
        for node in walk(body):
            yield from _of_node(node, floats, kernel=kernel)


def _of_node(node: Node, floats: set[str], *, kernel: bool) -> Iterator[_Edit]:
    match node.type:
        case "if_statement":
            condition = node.child_by_field_name("condition")
            if condition is not None:
                yield from _borders(condition, "tail not written")
        case "for_statement":
            yield from _loop(node)
        case "binary_expression":
            if _is_value(node, floats):
                yield from _terms(node)
        case "assignment_expression":
            yield from _assignment(node, floats, kernel=kernel)
        case "number_literal":
            yield from _constant(node, floats)
        case "call_expression":
            function = node.child_by_field_name("function")
            name = node_text(function) if function is not None else ""
            if name in _SWAPPED and not _in_index(node) and function is not None:
                yield _Edit(
                    "minimum for maximum", function.start_byte, function.end_byte, _SWAPPED[name]
                )


def _borders(condition: Node, kind: str) -> Iterator[_Edit]:
    """i < n as i <= n, and as i < n - 1."""
    for one in walk(condition):
        if one.type != "binary_expression":
            continue
        sign, right = one.child_by_field_name("operator"), one.child_by_field_name("right")
        left = one.child_by_field_name("left")
        if sign is None or right is None or left is None or "threadIdx" in node_text(left):
            continue
        other = {"<": "<=", ">=": ">"}.get(node_text(sign))
        if other is None or not re.search(r"[A-Za-z_]", node_text(right)):
            continue
        yield _Edit("border", sign.start_byte, sign.end_byte, other)
        made = f"({node_text(right)}) - 1"
        yield _Edit(kind, right.start_byte, right.end_byte, made)


def _loop(node: Node) -> Iterator[_Edit]:
    condition, first = (node.child_by_field_name(f) for f in ("condition", "initializer"))
    if condition is not None:
        yield from _borders(condition, "first or last element skipped")
    for one in walk(first) if first is not None else ():
        value = one.child_by_field_name("value") if one.type == "init_declarator" else None
        if value is not None and node_text(value) in ("0", "1"):
            more = str(int(node_text(value)) + 1)
            yield _Edit("first or last element skipped", value.start_byte, value.end_byte, more)


def _terms(node: Node) -> Iterator[_Edit]:
    sign, left, right = (node.child_by_field_name(f) for f in ("operator", "left", "right"))
    if sign is None or left is None or right is None:
        return
    other = {"+": "-", "-": "+", "*": "+"}.get(node_text(sign))
    if other is None:
        return
    yield _Edit("sign changed", sign.start_byte, sign.end_byte, other)
    yield _Edit("term dropped", node.start_byte, node.end_byte, node_text(left))
    yield _Edit("term dropped", node.start_byte, node.end_byte, node_text(right))


def _assignment(node: Node, floats: set[str], *, kernel: bool) -> Iterator[_Edit]:
    sign, left, right = (node.child_by_field_name(f) for f in ("operator", "left", "right"))
    if sign is None or left is None or right is None:
        return
    text = node_text(left)
    names = set(_NAMES.findall(text))
    if node_text(sign) == "+=" and not _in_header(node) and names & floats:
        yield _Edit("sum not kept", sign.start_byte, sign.end_byte, "=")
        if left.type == "identifier":
            made = f"{text} = {_ROUNDED.format(f'{text} + ({node_text(right)})')}"
            yield _Edit("sum in half precision", node.start_byte, node.end_byte, made, HALF_HEADER)
    stores = kernel and node_text(sign) == "=" and left.type == "subscript_expression"
    if stores and not re.fullmatch(r"0(\.0*)?[fF]?", node_text(right)):
        yield _Edit("output of zeros", right.start_byte, right.end_byte, "0")


def _constant(node: Node, floats: set[str]) -> Iterator[_Edit]:
    text = node_text(node)
    found = _NUMBER.fullmatch(text)
    if found is None or "." not in text or _in_index(node):
        return
    value = float(f"{found[1]}{found[2]}")
    if 0 < value < LEAST_CONSTANT:
        return
    made = value * CHANGED if value else 1.0
    yield _Edit(
        "constant changed", node.start_byte, node.end_byte, f"{made:.9g}{_point(made)}{found[3]}"
    )


def _point(value: float) -> str:
    return "" if re.search(r"[.e]", f"{value:.9g}") else ".0"


def _floating_names(function: Node) -> set[str]:
    """Variables and parameters of floating types, and pointers to such."""
    found: set[str] = set()
    for one in walk(function):
        if one.type in ("declaration", "parameter_declaration"):
            kind = one.child_by_field_name("type")
            if kind is not None and (FLOATS.search(node_text(kind)) or _is_parameter(kind)):
                found |= {declared(d) for d in one.children_by_field_name("declarator")}
    return found


def _is_parameter(kind: Node) -> bool:
    """A template's type parameter, or auto, which may be floating."""
    return bool(re.fullmatch(r"auto|T|[a-z]*T[a-z]*|scalar_t|real", node_text(kind)))


def _is_value(node: Node, floats: set[str]) -> bool:
    """Whether it is arithmetic of floating values, no index and no bound."""
    if _in_index(node) or _in_header(node):
        return False
    if not (set(_NAMES.findall(node_text(node))) & floats):
        return bool(re.search(r"\d\.\d*f?|__half2float", node_text(node)))
    parent = node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "cast_expression"):
        parent = parent.parent
    if parent is not None and parent.type == "init_declarator":
        return parent.child_by_field_name("declarator") is not None and (
            (parent.child_by_field_name("declarator") or parent).type == "identifier"
            and declared(parent) in floats
        )
    return True


def _in_index(node: Node) -> bool:
    at = node
    while at.parent is not None and at.type not in ("expression_statement", "declaration"):
        if at.type in ("subscript_argument_list", "array_declarator", "template_argument_list"):
            return True
        at = at.parent
    return False


def _in_header(node: Node) -> bool:
    """Whether it stands between the brackets of a for, while or if."""
    at = node
    while at.parent is not None:
        parent = at.parent
        if parent.type in ("for_statement", "while_statement", "if_statement", "do_statement"):
            body = parent.child_by_field_name("body") or parent.child_by_field_name("consequence")
            alternative = parent.child_by_field_name("alternative")
            return at not in (body, alternative)
        if parent.type == "compound_statement":
            return False
        at = parent
    return False
