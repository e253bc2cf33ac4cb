"""Cooperative groups as the operations that threads wait in: shuffles, votes and barriers.

A group's methods become calls of functions of include/cpu/ks/fission_groups.h, which get the
thread's indices; those that exchange something become a shuffle or a vote, and sync() a barrier of
the block or of the wavefront: which of the two, the group's declaration tells.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from evaluators.cpu.fission.names import GROUPS
from evaluators.cpu.fission.tree import Node, callee, group, leaf, unsupported

Kinds = Mapping[str, str | None]
"""By a variable's name: block, grid, wave (lanes of a wavefront), any (a type not known yet); None:
it is no group."""

HERE = "KsThread { threadIdx , blockIdx , blockDim , gridDim }"

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
_OF_THREAD = frozenset({"thread_rank", "meta_group_rank", "thread_index"})
_OF_BLOCK = frozenset(
    {"size", "num_threads", "meta_group_size", "group_index", "group_dim", "dim_threads"}
    | {"num_blocks", "block_rank", "block_index", "dim_blocks", "is_valid"}
)
_SHUFFLES = frozenset({"shfl", "shfl_up", "shfl_down", "shfl_xor"})
_VOTES = frozenset({"any", "all", "ballot"})
_WITHOUT = frozenset({"match_any", "match_all"})
METHODS = _SHUFFLES | _VOTES | _WITHOUT | {"sync"}
"""Those that wait for other threads."""
FUNCTIONS = frozenset(
    {"sync", "reduce", "inclusive_scan", "exclusive_scan", "coalesced_threads", "binary_partition"}
)
READS = frozenset(
    {*(f"ks_group_{name}" for name in _OF_THREAD | _OF_BLOCK | _SHUFFLES)}
    | {"this_thread_block", "this_grid", "tiled_partition"}
)
"""Functions whose value depends on nothing but their arguments and the thread."""

LIBRARY = """
template <typename T> T ks_reduce(auto group, T value, auto operation) {
    const unsigned count = group.num_threads(), rank = group.thread_rank();
    for (unsigned d = 1; d < count; d *= 2) {
        const T other = group.shfl_down(value, d);
        if (rank % (2 * d) == 0 && rank + d < count) value = operation(value, other);
    }
    return group.shfl(value, 0);
}
template <typename T> T ks_inclusive_scan(auto group, T value, auto operation) {
    const unsigned count = group.num_threads(), rank = group.thread_rank();
    for (unsigned d = 1; d < count; d *= 2) {
        const T other = group.shfl_up(value, d);
        if (rank >= d) value = operation(other, value);
    }
    return value;
}
template <typename T> T ks_exclusive_scan(auto group, T value, auto operation) {
    const T sum = ks_inclusive_scan(group, value, operation);
    const T before = group.shfl_up(sum, 1);
    return group.thread_rank() == 0 ? ks_group_identity<T>(operation) : before;
}
"""
"""Device functions that are put in place of the calls of reduce and scans."""


def mentioned(root: Node) -> bool:
    """Whether a file may use groups at all."""
    return root.has_leaf(GROUPS)


def is_call(node: Node) -> bool:
    """Whether a call may be one of a group's that waits for other threads."""
    if node.kind != "call_expression":
        return False
    function = node.need("function")
    if function.kind == "field_expression":
        return _method(function) in METHODS
    return callee(node) in FUNCTIONS


def uses(body: Node) -> bool:
    """Whether a function may ask a group of its own for something, which takes its indices."""
    for one in body.walk():
        if one.kind != "call_expression":
            continue
        function = one.need("function")
        if function.kind == "field_expression" and _method(function) in _OF_THREAD | _OF_BLOCK:
            return True
        if callee(one) in ("thread_rank", "group_size", "coalesced_threads"):
            return True
    return False


def lower(
    function: Node,
    given: Kinds | None,
    own: Collection[str],
    line: int | None = None,
) -> Kinds:
    """Replace what groups do in a function; the kinds of the groups in it come back.

    function: its definition. given: kinds of its parameters, where a call tells. own: names of the
    file's functions, which are not those of cooperative_groups. line: where all of it is to
    stand. Raises Rejected(UNSUPPORTED).
    """
    kinds = _declared(function, given or {})
    for one in reversed([*function.walk()]):  # what is inside comes first
        if line is not None:
            one.line = line
        if one.kind in ("declaration", "parameter_declaration"):
            _forget_type(one)
        elif one.kind == "call_expression":
            _call(one, kinds, own)
    return kinds


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
        if made == "tiled_partition" and (args := _arguments(node)):
            return "wave" if kind_of(args[0], kinds) != "any" else "any"
        return _MAKERS.get(made)
    return None


def _declared(function: Node, given: Kinds) -> dict[str, str | None]:
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


def _type_parameters(function: Node) -> Iterator[Node]:
    for one in function.walk():
        if one.kind.endswith("type_parameter_declaration"):
            yield one
        elif one.kind == "compound_statement":
            return


def _forget_type(declaration: Node) -> None:
    """thread_group, which may be any, becomes auto: what it is then is known to the compiler."""
    typed = declaration.get("type")
    if typed is not None and _last(typed) == "thread_group":
        field = typed.field
        typed.become(leaf("auto", typed.line, "placeholder_type_specifier"))
        typed.field = field


def _call(node: Node, kinds: Kinds, own: Collection[str]) -> None:
    function = node.need("function")
    args = _arguments(node)
    if function.kind == "field_expression":
        owner = function.need("argument")
        kind = kind_of(owner, kinds)
        if kind is not None:
            _method_call(node, _method(function), owner, kind, args)
        return
    word = callee(node)
    if word == "coalesced_threads":
        node.become(_made("ks_group_coalesced", node.line, _lane(node), _vote(node, "true")))
        return
    if word in own and function.kind != "qualified_identifier":
        return
    kind = kind_of(args[0], kinds) if args else None
    if kind is None:
        return
    if word == "sync":
        _method_call(node, "sync", args[0], kind, [])
    elif word in ("thread_rank", "group_size"):
        _method_call(node, "size" if word == "group_size" else word, args[0], kind, [])
    elif word == "binary_partition":
        vote = _made("__ballot", node.line, args[1].copy())
        node.become(_made("ks_group_binary", node.line, _lane(node), args[0], vote, args[1]))
    elif word in ("reduce", "inclusive_scan", "exclusive_scan"):
        _on_lanes(word, kind, node.line)
        operation = (
            args[2] if len(args) > 2 else leaf("cooperative_groups :: plus < > { }", node.line)
        )
        node.become(_made(f"ks_{word}", node.line, args[0], args[1], operation))


def _method_call(node: Node, method: str, owner: Node, kind: str, args: list[Node]) -> None:
    line = node.line
    if method in _OF_THREAD:
        node.become(_made(f"ks_group_{method}", line, _lane(node), owner, *args))
    elif method in _OF_BLOCK:
        node.become(_made(f"ks_group_{method}", line, leaf(HERE, line, "indices"), owner, *args))
    elif method == "sync":
        node.become(_made(_barrier(kind, line), line))
    elif method in _SHUFFLES:
        _on_lanes(method, kind, line)
        source = _made(f"ks_group_{method}", line, _lane(node), owner, *args[1:])
        node.become(_made("__shfl", line, args[0], source))
    elif method in _VOTES:
        _on_lanes(method, kind, line)
        text = ("! (", ")") if method == "all" else ("bool (", ")")
        vote = Node("vote", line, "", [leaf(text[0], line), args[0], leaf(text[1], line)])
        told = _made("__ballot", line, vote)
        node.become(_made(f"ks_group_{method}", line, _lane(node), owner, told))
    elif method in _WITHOUT:
        raise unsupported(f"{method}() of a group", line)


def _barrier(kind: str, line: int) -> str:
    if kind == "grid":
        raise unsupported("sync() of a grid: no launch on cpu is cooperative", line)
    if kind == "any":
        raise unsupported("sync() of a group that may be the block or a part of it", line)
    return "__syncthreads" if kind == "block" else "__syncwarp"


def _on_lanes(what: str, kind: str, line: int) -> None:
    if kind != "wave":
        raise unsupported(f"{what} of a group that is no tile and no coalesced group", line)


def _arguments(call: Node) -> list[Node]:
    return [k for k in call.need("arguments").kids if k.kind not in ("(", ")", ",")]


def _made(word: str, line: int, *args: Node) -> Node:
    """A call of a function by its name."""
    function = Node("identifier", line, word)
    listed = Node("argument_list", line, "", [leaf("(", line, "(")])
    for i, arg in enumerate(args):
        if i:
            listed.kids.append(leaf(",", line, ","))
        arg.field = None
        listed.kids.append(arg)
    listed.kids.append(leaf(")", line, ")"))
    function.field, listed.field = "function", "arguments"
    return Node("call_expression", line, "", [function, listed])


def _lane(node: Node) -> Node:
    """The indices where what is made of them differs from thread to thread."""
    return leaf(HERE, node.line, "lane")


def _vote(node: Node, text: str) -> Node:
    return _made("__ballot", node.line, leaf(text, node.line, "true"))


def _method(function: Node) -> str:
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
