"""Cooperative groups as the operations that threads wait in: shuffles, votes and barriers.

A group's methods become calls of functions of include/cpu/ks/fission_groups.h, which get the
thread's indices; those that exchange something become a shuffle or a vote, and sync() a barrier of
the block or of the wavefront: which of the two, the group's declaration tells.
"""

from collections.abc import Iterator, Mapping, Sequence

from evaluators.cpu.fission.names import GROUPS
from evaluators.cpu.fission.tree import Node, callee, group, leaf

Kinds = Mapping[str, str | None]
"""By a variable's name: block, grid, wave (lanes of a wavefront), any (a type not known yet); None:
it is no group."""

HERE = "ks_t , threadIdx , blockIdx , blockDim , gridDim"
"""KS_HERE in ks/fission_groups.h."""

_MAKERS = {
    "this_thread_block": "block",
    "this_grid": "grid",
    "tiled_partition": "wave",
    "coalesced_threads": "wave",
    "binary_partition": "wave",
}
_TYPES = {
    "thread_block": "block",
    "grid_group": "grid",
    "thread_block_tile": "wave",
    "coalesced_group": "wave",
    "thread_group": "any",
}
OF_THREAD = frozenset({"thread_rank", "meta_group_rank", "thread_index"})
OF_BLOCK = frozenset(
    {"size", "num_threads", "meta_group_size", "group_index", "group_dim", "dim_threads"}
    | {"num_blocks", "block_rank", "block_index", "dim_blocks", "is_valid"}
)
SHUFFLES = frozenset({"shfl", "shfl_up", "shfl_down", "shfl_xor"})
VOTES = frozenset({"any", "all", "ballot"})
METHODS = SHUFFLES | VOTES | {"sync"}
"""Those that wait for other threads."""
FUNCTIONS = frozenset(
    {"sync", "reduce", "inclusive_scan", "exclusive_scan", "coalesced_threads", "binary_partition"}
)
READS = frozenset(
    {*(f"ks_group_{name}" for name in OF_THREAD | OF_BLOCK | SHUFFLES)}
    | {"this_thread_block", "this_grid", "tiled_partition"}
)
"""Functions whose value depends on nothing but their arguments and the thread."""


def mentioned(root: Node) -> bool:
    """Whether a file may use groups at all."""
    return root.has_leaf(GROUPS)


def is_call(node: Node) -> bool:
    """Whether a call may be one of a group's that waits for other threads."""
    if node.kind != "call_expression":
        return False
    function = node.need("function")
    if function.kind == "field_expression":
        return method(function) in METHODS
    return callee(node) in FUNCTIONS


def uses(body: Node) -> bool:
    """Whether a function may ask a group of its own for something, which takes its indices."""
    for one in body.walk():
        if one.kind != "call_expression":
            continue
        function = one.need("function")
        if function.kind == "field_expression" and method(function) in OF_THREAD | OF_BLOCK:
            return True
        if callee(one) in ("thread_rank", "group_size", "coalesced_threads"):
            return True
    return False


def bound(params: Sequence[Node], args: Sequence[Node], kinds: Kinds) -> Kinds:
    """The kinds of a called function's parameters."""
    pairs = zip(params, args, strict=False)
    return {name: kind_of(arg, kinds) for param, arg in pairs if (name := _name(param))}


def deduced(parameter: str, params: Sequence[Node], args: Sequence[Node]) -> Node | None:
    """A template parameter that stands in a parameter of type thread_block_tile<SIZE, PARENT>."""
    for param, arg in zip(params, args, strict=False):
        typed = param.get("type")
        while typed is not None and typed.kind == "qualified_identifier":
            typed = typed.kids[-1]
        if typed is None or typed.kind != "template_type" or _last(typed) != "thread_block_tile":
            continue
        listed = [k for k in typed.need("arguments").kids if k.kind not in ("<", ">", ",")]
        for one, member in zip(listed, ("threads", "Parent"), strict=False):
            if str(one) == parameter:
                start = f"{'typename' if member == 'Parent' else ''} KsDecay < decltype ("
                return group("uniform_value", arg.line, start, arg.copy(), f") > :: {member}")
    return None


def kind_of(node: Node, kinds: Kinds) -> str | None:
    """Of the group that an expression is; None where it is none."""
    if node.kind == "parenthesized_expression":
        return kind_of(node.kids[1], kinds)
    if node.kind == "identifier":
        return kinds.get(node.text)
    if node.kind == "call_expression":
        made = callee(node).removeprefix("ks_group_")
        if made == "tiled_partition" and (args := arguments(node)):
            return "wave" if kind_of(args[0], kinds) != "any" else "any"
        return _MAKERS.get(made)
    return None


def declared(function: Node, given: Kinds) -> dict[str, str | None]:
    """The kinds of all groups that a function declares, parameters first."""
    kinds: dict[str, str | None] = dict(given)
    types = {str(one.get("name") or one.kids[-1]) for one in _type_parameters(function)}
    for one in function.walk():
        if one.kind not in ("parameter_declaration", "declaration"):
            continue
        typed, name = one.get("type"), _name(one)
        if typed is None or name is None or (name in given and one.kind != "declaration"):
            continue
        word = _last(typed)
        value = (one.get("declarator") or one).get("value")
        told = kind_of(value, kinds) if value is not None else None
        if word in _TYPES:
            kinds[name] = told or _TYPES[word]
        elif told is not None:
            kinds[name] = told
        elif one.kind == "parameter_declaration" and (word in types or word == "auto"):
            kinds[name] = "any"
    return kinds


def forget_type(declaration: Node) -> None:
    """thread_group, which may be any, becomes auto: what it is then is known to the compiler."""
    typed = declaration.get("type")
    if typed is not None and _last(typed) == "thread_group":
        field = typed.field
        typed.become(leaf("auto", typed.line, "placeholder_type_specifier"))
        typed.field = field


def _type_parameters(function: Node) -> Iterator[Node]:
    for one in function.walk():
        if one.kind.endswith("type_parameter_declaration"):
            yield one
        elif one.kind == "compound_statement":
            return


def arguments(call: Node) -> list[Node]:
    return [k for k in call.need("arguments").kids if k.kind not in ("(", ")", ",")]


def method(function: Node) -> str:
    named = function.get("field")
    if named is not None and named.kind == "template_method":
        named = named.get("name")
    return named.text if named is not None else ""


def _last(typed: Node) -> str:
    """The last name of a type, without template arguments: thread_block_tile of cg::...<32>."""
    while typed.kind == "qualified_identifier":
        typed = typed.kids[-1]
    if typed.kind == "template_type":
        typed = typed.need("name")
    return str(typed)


def _name(declaration: Node) -> str | None:
    """What a declaration of one variable declares."""
    declarator = declaration.get("declarator")
    while declarator is not None and declarator.kind != "identifier":
        inner = declarator.get("declarator")
        if inner is None and declarator.kind == "reference_declarator":
            inner = declarator.kids[-1]
        declarator = inner
    return declarator.text if declarator is not None else None
