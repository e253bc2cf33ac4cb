"""What threads exchange: LDS, and the slots through which wavefront operations read other lanes."""

from collections.abc import Iterable

from evaluators.cpu.fission.ir import Barrier, Fixed, Item, Step
from evaluators.cpu.fission.names import BLOCK_VOTES, SHARED, SHUFFLES
from evaluators.cpu.fission.source import Unit
from evaluators.cpu.fission.tree import (
    TYPES,
    UNKNOWN,
    Node,
    Spanned,
    group,
    leaf,
    render,
    unsupported,
)
from evaluators.cpu.library_memory import LDS_PREFIX

_ALIGNED = "alignas(64)"

Edit = tuple[int, int, str]
"""From a byte of the source up to another one: what shall stand there."""


def declared_name(declarator: Node) -> Node:
    """The identifier that a declarator declares."""
    node = declarator
    while True:
        if node.kind in ("identifier", "type_identifier"):
            return node
        inner = node.get("declarator") or next(
            (k for k in node.kids if k.kind == "identifier" or k.kind.endswith("declarator")), None
        )
        if inner is None:
            raise unsupported("a declaration of this form", node.line)
        node = inner


def lds(node: Node) -> list[Item]:
    """__shared__: arrays of the block function, or a pointer into the dynamic LDS."""
    declarators = node.all("declarator")
    if not declarators or node.get("value"):
        raise unsupported("LDS declared in this form", node.line)
    storage = {kid.text or str(kid) for kid in node.kids if kid.kind == "storage_class_specifier"}
    head = [
        kid
        for kid in node.kids
        if kid.field != "declarator" and kid.kind not in ("storage_class_specifier", ";", ",")
    ]
    items: list[Item] = []
    for declarator in declarators:
        heads = [kid.copy() for kid in head]
        if "extern" in storage:
            items.append(Fixed(_dynamic(heads, declarator, node.line, "ks_block.lds")))
        else:
            items.append(Fixed(zoned(heads, declarator, node.line), lds=True))
    return items


def zoned(head: list[Node], declarator: Node, line: int, storage: str = "") -> Node:
    """T name[4]; becomes a reference T (&name)[4] to the inside of a KsZoned (ks/entry.h).

    storage: the reference's own; LDS itself is static.
    """
    named = declared_name(declarator)
    object_name = f"{LDS_PREFIX}{line}_{named.text}"
    if any(kid.kind in TYPES and kid.get("body") is not None for kid in head):
        # a type without a name can't be written twice
        type_name = f"{object_name}_type"
        own_type = group("type_definition", line, "typedef", *head, leaf(type_name, line), ";")
        variable = zoned([leaf(type_name, line)], declarator, line, storage)
        return group("declarations", line, own_type, variable)
    shape = declarator.copy()
    shape.field = None
    declared_name(shape).become(leaf("", line))
    types = [kid.copy() for kid in head]
    named.become(group("reference", line, "( &", named.copy(), ")"))
    inside: list[Node | str] = [
        f"{_ALIGNED} KS_WHOLE static KsZoned <",
        *types,
        shape,
        f"> {object_name} ;",
    ]
    return group(
        "declaration", line, *inside, storage, *head, declarator, f"= {object_name} . value ;"
    )


def zoned_everywhere(node: Node) -> Node:
    """A __shared__ declaration outside of a kernel: each of its variables with zones."""
    declarators = node.all("declarator")
    if node.has_leaf("extern") or not declarators or node.get("value"):
        return node
    head = [
        kid
        for kid in node.kids
        if kid.field != "declarator" and kid.kind not in ("storage_class_specifier", ";", ",")
    ]
    own = [zoned([kid.copy() for kid in head], one, node.line, "static") for one in declarators]
    return group("declarations", node.line, *own)


def zone_edits(unit: Unit, nodes: Iterable[Node]) -> list[Edit]:
    """Of the __shared__ declarations among the nodes, but for those of dynamic LDS."""
    edits: list[Edit] = []
    for node in nodes:
        if not isinstance(node, Spanned) or node.kind != "shared_declaration":
            continue
        if not node.has_leaf("extern"):
            out: list[str] = []
            render(zoned_everywhere(node), out, [UNKNOWN])
            edits.append((_start(unit, node), node.end, "".join(out) + " "))
    return edits


def _start(unit: Unit, node: Spanned) -> int:
    """The marker may stand ahead of what a C++ parser takes for the declaration."""
    markers = [at for at, word in unit.source.markers if word == SHARED and at < node.end]
    return min(node.start, markers[-1])


def file_lds(node: Node) -> Node:
    """Dynamic LDS declared outside of functions: a constant pointer."""
    declarators = node.all("declarator")
    if len(declarators) != 1:
        raise unsupported("LDS declared in this form", node.line)
    head = [
        kid
        for kid in node.kids
        if kid.field != "declarator" and kid.kind not in ("storage_class_specifier", ";")
    ]
    pointer = _dynamic(head, declarators[0], node.line, "ks_dynamic_lds")
    return group("declaration", node.line, "static", pointer)


def _dynamic(head: list[Node], declarator: Node, line: int, memory: str) -> Node:
    """T name[] becomes T (*const name) = (T (*))memory."""
    innermost = declarator
    while (inner := innermost.get("declarator")) is not None and inner.kind == "array_declarator":
        innermost = inner
    named = innermost.get("declarator")
    if innermost.kind != "array_declarator" or named is None or named.kind != "identifier":
        raise unsupported("dynamic LDS declared in this form", line)
    innermost.become(group("pointer", line, "( * const", named, ")"))
    whole = str(declarator)
    cast = whole.replace(str(innermost), "(*)", 1)
    types = " ".join(map(str, head))
    return group("declaration", line, *head, declarator, f"= ({types} {cast}) {memory}", ";")


def masked(mask: Node, slot: str, line: int) -> tuple[Step, Barrier]:
    """What each lane says who takes part; the barrier behind which that is compared."""
    text = ("static_assert ( ks_wide < decltype (", mask.copy(), ") > , KS_NARROW ) ;")
    put = f"ks_put ( {slot} , ks_t , ks_mask ("
    node = group("expression_statement", line, *text, put, mask, ") ) ;")
    barrier = Barrier(
        line,
        block=False,
        after=(f"ks_check_waves<KS_LANES>({slot}, {line});",),
        slots=((slot, f"{_ALIGNED} KsMask {slot}[KS_LANES] = {{}};"),),
    )
    return Step(node, puts=(slot, leaf("KsMask ( )", line))), barrier


def exchanged(
    word: str, args: list[Node], slot: str, line: int
) -> tuple[list[Step], Barrier, Node]:
    """A wavefront operation or vote: filling slots, the barrier, and the value read from one."""
    plain = word.removesuffix("_sync")
    if plain == word:
        put, barrier, value = _exchanged(word, args, slot, line)
        return [put], barrier, value
    if not args:
        raise unsupported(f"{word} without its mask", line)
    given, compared = masked(args[0], f"{slot}_m", line)
    put, barrier, value = _exchanged(plain, args[1:], slot, line)
    barrier.after += compared.after
    barrier.slots += compared.slots
    return [given, put], barrier, value


def _exchanged(word: str, args: list[Node], slot: str, line: int) -> tuple[Step, Barrier, Node]:
    if word in SHUFFLES:
        if len(args) not in (2, 3):
            raise unsupported(f"{word} with {len(args)} arguments", line)
        value, lane = args[0], args[1]
        width = args[2] if len(args) == 3 else leaf("WAVEFRONT", line)
        put = _put(slot, line, value.copy())
        store = f"{_ALIGNED} unsigned char {slot}[8 * KS_LANES]; ks_clear_tail({slot});"
        get = group(
            "exchange",
            line,
            f"ks{word[1:]} < KsOperand < decltype (",
            value,
            f") > > ( {slot} , ks_t ,",
            lane,
            ",",
            width,
            ")",
        )
        return put, Barrier(line, block=False, slots=((slot, store),)), get
    answer = args[0] if args else leaf("true", line)
    inverted = word in ("__all", "__syncthreads_and")
    put = _put(slot, line, leaf("! (" if inverted else "bool (", line), answer, leaf(")", line))
    store = f"{_ALIGNED} bool {slot}[KS_LANES] = {{}};"
    if word in BLOCK_VOTES:
        total = f"{slot}_n"
        barrier = Barrier(
            line,
            block=True,
            after=(f"{total} = ks_count<KS_THREADS>({slot});",),
            slots=((slot, f"{store} int {total} = 0;"),),
        )
        ending = {"count": "", "or": " != 0", "and": " == 0"}[word.rsplit("_", 1)[1]]
        return put, barrier, leaf(f"( int ) ( {total}{ending} )", line, "uniform_value")
    votes = f"{slot}_w"
    barrier = Barrier(
        line,
        block=False,
        after=(f"ks_ballot<KS_LANES>({slot}, {votes});",),
        slots=((slot, f"{store} unsigned long long {votes}[KS_LANES / WAVEFRONT];"),),
    )
    read = f"{votes} [ ks_t / WAVEFRONT ]"
    if word == "__any":
        read = f"( int ) ( {read} != 0 )"
    elif word == "__all":
        read = f"( int ) ( {read} == 0 )"
    return put, barrier, leaf(read, line, "exchange")


def _put(slot: str, line: int, *value: Node) -> Step:
    node = group("expression_statement", line, f"ks_put ( {slot} , ks_t ,", *value, ") ;")
    return Step(node, puts=(slot, value[0] if len(value) == 1 else None))
