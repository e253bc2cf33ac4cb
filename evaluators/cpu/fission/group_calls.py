"""Calls of groups in a function, replaced by what threads wait in."""

from collections.abc import Collection

from evaluators.cpu.fission.groups import (
    HERE,
    OF_BLOCK,
    OF_THREAD,
    SHUFFLES,
    VOTES,
    Kinds,
    arguments,
    declared,
    forget_type,
    kind_of,
    method,
)
from evaluators.cpu.fission.tree import Node, callee, leaf, unsupported

LIBRARY = """
template <typename T> T ks_reduce(auto group, T value, auto operation) {
    const unsigned count = group.num_threads(), rank = group.thread_rank();
    if constexpr (ks_is_tile<decltype(group)>) {
        for (unsigned d = count / 2; d > 0; d /= 2)
            value = operation(value, group.shfl_xor(value, d));
        return value;
    } else {
        for (unsigned d = 1; d < count; d *= 2) {
            const T other = group.shfl_down(value, d);
            if (rank % (2 * d) == 0 && rank + d < count) value = operation(value, other);
        }
        return group.shfl(value, 0);
    }
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
    kinds = declared(function, given or {})
    for one in reversed([*function.walk()]):  # what is inside comes first
        if line is not None:
            one.line = line
        if one.kind in ("declaration", "parameter_declaration"):
            forget_type(one)
        elif one.kind == "call_expression":
            _call(one, kinds, own)
    return kinds


def _call(node: Node, kinds: Kinds, own: Collection[str]) -> None:
    function = node.need("function")
    args = arguments(node)
    if function.kind == "field_expression":
        owner = function.need("argument")
        kind = kind_of(owner, kinds)
        if kind is not None:
            _ask(node, method(function), owner, kind, args)
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
        _ask(node, "sync", args[0], kind, [])
    elif word in ("thread_rank", "group_size"):
        _ask(node, "size" if word == "group_size" else word, args[0], kind, [])
    elif word == "binary_partition":
        vote = _made("__ballot", node.line, args[1].copy())
        node.become(_made("ks_group_binary", node.line, _lane(node), args[0], vote, args[1]))
    elif word in ("reduce", "inclusive_scan", "exclusive_scan"):
        _on_lanes(word, kind, node.line)
        operation = (
            args[2] if len(args) > 2 else leaf("cooperative_groups :: plus < > { }", node.line)
        )
        node.become(_made(f"ks_{word}", node.line, args[0], args[1], operation))


def _ask(node: Node, asked: str, owner: Node, kind: str, args: list[Node]) -> None:
    line = node.line
    if asked in OF_THREAD:
        node.become(_made(f"ks_group_{asked}", line, _lane(node), owner, *args))
    elif asked in OF_BLOCK:
        node.become(_made(f"ks_group_{asked}", line, leaf(HERE, line, "indices"), owner, *args))
    elif asked == "sync":
        node.become(_made(_barrier(kind, line), line))
    elif asked in SHUFFLES:
        _on_lanes(asked, kind, line)
        source = _made(f"ks_group_{asked}", line, _lane(node), owner, *args[1:])
        node.become(_made("__shfl", line, args[0], source))
    elif asked in VOTES:
        _on_lanes(asked, kind, line)
        text = ("! (", ")") if asked == "all" else ("bool (", ")")
        vote = Node("vote", line, "", [leaf(text[0], line), args[0], leaf(text[1], line)])
        told = _made("__ballot", line, vote)
        node.become(_made(f"ks_group_{asked}", line, _lane(node), owner, told))


def _barrier(kind: str, line: int) -> str:
    if kind == "grid":
        raise unsupported("sync() of a grid: no launch on cpu is cooperative", line)
    if kind == "any":
        raise unsupported("sync() of a group that may be the block or a part of it", line)
    return "__syncthreads" if kind == "block" else "__syncwarp"


def _on_lanes(what: str, kind: str, line: int) -> None:
    if kind != "wave":
        raise unsupported(f"{what} of a group that is no tile and no coalesced group", line)


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
