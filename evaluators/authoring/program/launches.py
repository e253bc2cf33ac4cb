"""Where a program launches kernels: <<<...>>> and hipLaunchKernelGGL, with what is passed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from evaluators.authoring.program.cpp import (
    Node,
    Program,
    closing,
    node_text,
    parsed_expression,
    split_arguments,
    walk,
)
from evaluators.authoring.program.host import Frame, Host
from evaluators.authoring.program.items import Item, declared

_MACRO_LAUNCH = re.compile(rb"\bhipLaunchKernelGGL\s*(?=\()")
_ARRAY_LAUNCH = re.compile(rb"\b(?:hip|cuda)Launch(Cooperative)?Kernel\s*(?=\()")
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})


@dataclass(frozen=True)
class Call:
    """One launch as it is written. dims: grid, block, LDS bytes and stream, as far as given.

    given: what the kernel's parameters get. templates: the arguments between < and >, as text.
    """

    kernel: str
    templates: tuple[str, ...]
    dims: tuple[str, ...]
    given: tuple[str, ...]
    at: int
    frame: Frame | None
    loops: tuple[Node, ...] = ()
    conditions: tuple[str, ...] = ()
    cooperative: bool = False


def calls_of(host: Host) -> list[Call]:
    """In the order of the text."""
    program = host.program
    found = [*_by_chevrons(program), *_by_macro(program)]
    made = [_placed(host, *one) for one in found] + [*_by_array(host)]
    return sorted(made, key=lambda one: one.at)


_Raw = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], int]


def _by_chevrons(program: Program) -> Iterator[_Raw]:
    code = program.code
    for one in program.chevrons:
        name, templates = _launched(code, one.start)
        opening = code.find(b"(", one.end)
        if not name or opening < 0 or code[one.end : opening].strip():
            continue
        dims = _texts(program, one.start + 3, one.end - 3)
        given = _texts(program, opening + 1, closing(code, opening) - 1)
        yield name, templates, dims, given, one.start


def _by_macro(program: Program) -> Iterator[_Raw]:
    code = program.code
    inside = [(one.start, one.end) for one in program.directives]
    for found in _MACRO_LAUNCH.finditer(code):
        if any(start <= found.start() < end for start, end in inside):
            continue
        parts = _texts(program, found.end() + 1, closing(code, found.end()) - 1)
        if len(parts) < 5:
            continue
        kernel = parts[0].strip()
        kernel = re.sub(r"^HIP_KERNEL_NAME\s*\((.*)\)$", r"\1", kernel, flags=re.DOTALL).strip()
        while kernel.startswith("(") and kernel.endswith(")"):
            kernel = kernel[1:-1].strip()
        name, templates = _launched(kernel.encode(), len(kernel.encode()))
        if name:
            yield name, templates, parts[1:5], parts[5:], found.start()


def _by_array(host: Host) -> Iterator[Call]:
    """hipLaunchKernel(kernel, grid, block, arguments, LDS bytes, stream), cooperative or not, with
    an array of pointers to the arguments."""
    program = host.program
    for found in _ARRAY_LAUNCH.finditer(program.code):
        parts = _texts(program, found.end() + 1, closing(program.code, found.end()) - 1)
        if len(parts) < 4:
            continue
        kernel = re.sub(r"^(?:\([^()]*\)|reinterpret_cast<[^>]*>\()", "", parts[0]).strip("()& ")
        name, templates = _launched(kernel.encode(), len(kernel.encode()))
        dims = (parts[1], parts[2], *parts[4:6])
        call = _placed(host, name, templates, dims, (), found.start())
        held = host.local(call.frame, parts[3].strip()) if call.frame is not None else None
        if held is not None:
            given = tuple(_pointed(node_text(one)) for one in held.values)
            yield replace(call, given=given, cooperative=found[1] is not None)


def _pointed(text: str) -> str:
    """x of &x, also behind a cast."""
    return re.sub(r"^(?:\([^()]*\)|\w+_cast<[^>]*>\()?\s*&?\s*", "", text).rstrip(") ")


def _texts(program: Program, start: int, end: int) -> tuple[str, ...]:
    """What commas part, from the file itself but for comments."""
    return tuple(
        program.code[a:b].decode().strip() for a, b in split_arguments(program.code, start, end)
    )


def _launched(code: bytes, end: int) -> tuple[str, tuple[str, ...]]:
    """The kernel's name that ends there, and its template arguments."""
    at = end
    while at > 0 and code[at - 1 : at].isspace():
        at -= 1
    templates: tuple[str, ...] = ()
    if code[at - 1 : at] == b">":
        opening = _matching(code, at - 1)
        templates = tuple(
            code[a:b].decode().strip() for a, b in split_arguments(code, opening + 1, at - 1)
        )
        at = opening
    name = re.search(rb"([A-Za-z_]\w*)\s*$", code[max(0, at - 200) : at])
    return (name[1].decode() if name else ""), templates


def _matching(code: bytes, at: int) -> int:
    """The < that the > at code[at] closes."""
    angles = depth = 0
    for i in range(at, -1, -1):
        sign = code[i : i + 1]
        depth += (sign == b")") - (sign == b"(")
        if depth == 0 and sign == b">":
            angles += 1
        elif depth == 0 and sign == b"<":
            angles -= 1
            if angles == 0:
                return i
    return at


def _placed(
    host: Host,
    name: str,
    templates: tuple[str, ...],
    dims: tuple[str, ...],
    given: tuple[str, ...],
    at: int,
) -> Call:
    function = host.enclosing(at)
    frame = None
    loops: tuple[Node, ...] = ()
    conditions: tuple[str, ...] = ()
    if function is not None and function.kind == "host":
        frame = host.frames(function, at)[0]
        loops, conditions = _around(function, at)
    return Call(name, templates, dims, given, at, frame, loops, conditions)


def _around(function: Item, at: int) -> tuple[tuple[Node, ...], tuple[str, ...]]:
    """The loops that the place stands in, and the conditions under which it is reached."""
    loops: list[Node] = []
    conditions: list[str] = []
    for one in walk(function.node):
        if not one.start_byte <= at < one.end_byte:
            continue
        if one.type in _LOOPS:
            loops.append(one)
        elif one.type == "if_statement":
            condition = one.child_by_field_name("condition")
            otherwise = one.child_by_field_name("alternative")
            if condition is None or condition.start_byte <= at < condition.end_byte:
                continue
            text = node_text(condition).strip("()")
            inside = otherwise is not None and otherwise.start_byte <= at < otherwise.end_byte
            conditions.append(f"!({text})" if inside else text)
    return tuple(loops), tuple(conditions)


def loop_variables(loop: Node) -> set[str]:
    """What a for statement counts, and whatever its header changes."""
    names: set[str] = set()
    body = loop.child_by_field_name("body")
    for one in walk(loop):
        if body is not None and one.start_byte >= body.start_byte and one.end_byte <= body.end_byte:
            continue
        if one.type in ("init_declarator", "assignment_expression", "update_expression"):
            target = one.child_by_field_name("left") or one.child_by_field_name("argument") or one
            names.add(declared(target) if one.type == "init_declarator" else node_text(target))
    return names


def expression(text: str) -> Node | None:
    return parsed_expression(text)
