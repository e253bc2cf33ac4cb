"""Where threads leave loops, functions and the kernel, and what they would miss."""

from collections.abc import Collection, Iterator, Set

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
    contains_barrier,
)
from evaluators.cpu.fission.tree import LOOPS, TYPES, Node


def waited_for(target: Loop | Once, leaving: Collection[Node]) -> bool:
    """Whether threads that leave target by these statements would miss a barrier inside it."""
    if isinstance(target, Loop):
        return contains_barrier([target])
    return _missed(target.body, {id(node) for node in leaving}, [False])


def _missed(items: list[Item], leaving: Set[int], left: list[bool]) -> bool:
    """Whether a barrier follows one of these exits, in the order of the source."""
    for item in items:
        match item:
            case Barrier():
                if item.block and left[0]:
                    return True
            case Step():
                left[0] |= any(id(node) in leaving for node, _ in item.exits)
            case Exit():
                left[0] |= id(item.node) in leaving
            case Branch():
                before = left[0]
                if _missed(item.then, leaving, left):
                    return True
                after, left[0] = left[0], before
                if _missed(item.orelse, leaving, left):
                    return True
                left[0] |= after
            case Loop() | Switch():
                inside = [item.body] if isinstance(item, Loop) else [b for _, b in item.cases]
                if any(id(one.node) in leaving for body in inside for one in direct_exits(body)):
                    left[0] = True
                if left[0] and contains_barrier([item]):
                    return True
            case Scope() | Once():
                if _missed(item.body, leaving, left):
                    return True
            case Fixed() | Sweep():
                pass
    return False


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
