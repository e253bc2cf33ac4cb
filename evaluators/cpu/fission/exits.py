"""Where threads leave loops, functions and the kernel."""

from collections.abc import Iterator

from evaluators.cpu.fission.ir import (
    Branch,
    Exit,
    Fixed,
    Item,
    Loop,
    Once,
    Scope,
    Step,
    Switch,
)
from evaluators.cpu.fission.tree import LOOPS, TYPES, Node


def direct_exits(items: "tuple[Item, ...] | list[Item]") -> list[Exit]:
    """Exits that stand in these items, also in nested branches, but lead out of them."""
    found: list[Exit] = []
    inner: list[object] = []
    for item in items:
        match item:
            case Exit():
                found.append(item)
            case Branch():
                found += direct_exits((*item.then, *item.orelse))
            case Scope() | Loop() | Once():
                inner.append(item)
                found += direct_exits(item.body)
            case Switch():
                inner.append(item)
                for _, body in item.cases:
                    found += direct_exits(body)
            case _:
                continue
    return [exit for exit in found if not any(exit.target is one for one in inner)]


def last_steps(items: list[Item]) -> set[int]:
    """Steps after which nothing follows but steps of the same region."""
    last: set[int] = set()
    for item in reversed(items):
        match item:
            case Step() if item.declares or item.target is None or not item.target.uniform:
                last.add(id(item))
            case Branch() if not item.collective and item.mode == "mask":
                last.add(id(item.whole))
            case Fixed():
                continue
            case _:
                break
    return last


def separate_steps(items: list[Item]) -> Iterator[Step]:
    """All steps that threads run one by one."""
    for item in items:
        match item:
            case Step():
                yield item
            case Branch() if item.mode == "mask" and not item.collective:
                yield item.whole
            case Branch():
                masked = item.mode == "mask"
                for inner in (*item.then, *item.orelse):
                    if masked and isinstance(inner, Exit) and inner.step is not None:
                        yield inner.step
                    yield from separate_steps([inner])
            case Loop() | Once() | Scope():
                for inner in item.body:
                    masked = getattr(item, "mode", "") == "mask"
                    if masked and isinstance(inner, Exit) and inner.step is not None:
                        yield inner.step
                    yield from separate_steps([inner])
            case Switch():
                for _, body in item.cases:
                    yield from separate_steps(body)
            case _:
                continue


def exits(node: Node) -> list[Node]:
    """The statements that leave node for a place outside it."""
    found: list[Node] = []

    def search(one: Node, loop: bool, switch: bool) -> None:
        kind = one.kind
        if (
            kind == "return_statement"
            or (kind == "continue_statement" and not loop)
            or (kind == "break_statement" and not loop and not switch)
        ):
            found.append(one)
        elif kind != "lambda_expression" and kind not in TYPES:
            inner_loop = loop or kind in LOOPS
            inner_switch = switch or kind == "switch_statement"
            for kid in one.kids:
                if kid.kids:
                    search(kid, inner_loop, inner_switch)

    search(node, False, False)
    return found
