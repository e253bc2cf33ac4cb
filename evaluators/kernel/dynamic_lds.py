"""Finds dynamic LDS that one function uses under two names: refused, as AMD's compiler errs there.

All `extern __shared__` arrays begin at the same byte. LLVM takes two of them for different objects
(llvm-project PR 84742 leaves their aliasing to the front end) and moves accesses to one past
accesses to the other: wrong sums on gfx942, right ones on cpu and cuda. Only what is sure from the
tokens is refused: both names used where one scope holds the other, so never at the same time by
the two sides of an `if`, and through calls of functions that are defined once.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.tokens import Token

_MACRO = "HIP_DYNAMIC_SHARED"
_WITH_ARGUMENTS = {"__attribute__", "__attribute", "alignas", "__align__", "__launch_bounds__"}
_WITH_ARGUMENTS |= {"__declspec", "noexcept", "decltype"}
_TYPES = {"struct", "class", "union"}
_BEFORE_A_VALUE = {"return", "else", "case", "do", "sizeof", "throw", "goto", "new", "delete"}
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}

_ENOUGH = 3  # names of a function's arrays: two of them in one scope are refused
_LONGEST_ANGLES = 512  # tokens of a template's parameters

Path = tuple[int, ...]
"""The blocks round a token, from a function's own to the innermost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Function:
    """name: empty where no plain call names it. body: without its outer braces."""

    name: str
    is_kernel: bool
    parameters: Sequence[Token]
    body: Sequence[Token]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    """A word in a function's body that is an array of dynamic LDS, or that is called."""

    name: str
    is_call: bool
    path: Path
    token: Token


def check_dynamic_lds(found: Iterable[Token]) -> None:
    """Raises Rejected(INVALID) for a function that surely uses two names of the dynamic LDS."""
    outer: set[str] = set()
    functions = list(_functions(_unconditional(found), outer))
    counts = Counter(function.name for function in functions)
    own = [(function, _uses(function, outer)) for function in functions]
    sure = _sure({f.name: uses for f, uses in own if f.name and counts[f.name] == 1})
    for function, uses in own:
        _check(function, _reached(uses, sure))


def _check(function: _Function, uses: Iterable[_Use]) -> None:
    """Two names where one's scope holds the other's: looked up by scope, not pair by pair."""
    here: defaultdict[Path, set[str]] = defaultdict(set)
    below: defaultdict[Path, set[str]] = defaultdict(set)
    for use in uses:
        if use.name in here[use.path]:
            continue
        round_ = [use.path[: i + 1] for i in range(len(use.path))]
        met = set().union(below[use.path], *(here[path] for path in round_)) - {use.name}
        if met:
            raise _two_names(function, min(met), use)
        here[use.path].add(use.name)
        for path in round_:
            below[path].add(use.name)


def _two_names(function: _Function, before: str, use: _Use) -> Rejected:
    kind = "kernel" if function.is_kernel else "function"
    return Rejected(
        Status.INVALID,
        f"{kind} {function.name} uses dynamic LDS as {before!r} and as {use.name!r}: both are the "
        "same bytes, but AMD's compiler takes them for different ones and reorders their "
        "accesses; declare one extern __shared__ array, and cast it or add an offset to it for "
        "the other",
        line=use.token.line,
    )


def _sure(called: Mapping[str, Sequence[_Use]]) -> dict[str, set[str]]:
    """By function, the arrays that it surely uses, itself or through calls; _ENOUGH of them."""
    callers: defaultdict[str, set[str]] = defaultdict(set)
    waiting: list[tuple[str, str]] = []
    for name, uses in called.items():
        for use in uses:
            if len(use.path) == 1 and use.is_call:
                callers[use.name].add(name)
            elif len(use.path) == 1:
                waiting.append((name, use.name))
    found: defaultdict[str, set[str]] = defaultdict(set)
    while waiting:
        name, array = waiting.pop()
        if array not in found[name] and len(found[name]) < _ENOUGH:
            found[name].add(array)
            waiting += [(caller, array) for caller in callers[name]]
    return found


def _reached(uses: Sequence[_Use], sure: Mapping[str, Collection[str]]) -> Iterator[_Use]:
    """Uses of arrays; those in functions that it surely calls, at the place of the call."""
    for use in uses:
        if not use.is_call:
            yield use
        else:
            for name in sorted(sure.get(use.name, ())):
                yield replace(use, name=name, is_call=False)


def _unconditional(found: Iterable[Token]) -> list[Token]:
    """Without directives, and without what they may leave out."""
    depth = 0
    kept: list[Token] = []
    for token in found:
        if token.kind == "directive":
            depth += token.text.startswith("if") - token.text.startswith("endif")
        elif depth == 0:
            kept.append(token)
    return kept


def _functions(found: Sequence[Token], outer: set[str]) -> Iterator[_Function]:
    """Functions with bodies; what is declared outside of them joins outer.

    Ends early where brackets don't match: macros hide some.
    """
    head: list[Token] = []
    i = 0
    while i < len(found):
        text = found[i].text
        if text == "{" and not _opens_scope(head):
            end = _end(found, i)
            if end is None:
                return
            if function := _function(head, found[i + 1 : end]):
                yield function
                head = []
            i = end
        elif text in ("{", "}"):
            head = []
        elif text == ";" or (text == ")" and head and head[0].text == _MACRO):
            outer |= set(_dynamic([*head, found[i]]))
            head = []
        else:
            head.append(found[i])
        i += 1


def _opens_scope(head: Sequence[Token]) -> bool:
    """Whether a namespace, extern "C" or a class stands before this brace."""
    plain = _plain(head)
    words = {token.text for token in plain}
    if "(" in words or "=" in words:
        return False
    return bool(words & {"namespace", *_TYPES}) or any(one.kind == "literal" for one in plain)


def _function(head: Sequence[Token], body: Sequence[Token]) -> _Function | None:
    plain = _plain(head)
    start = next((i for i, token in enumerate(plain) if token.text in ("(", "=")), None)
    if start is None or plain[start].text == "=":
        return None
    end = _end(plain, start) or len(plain)
    before = start - 1
    if plain[before].text == ">":  # a specialisation
        before = max((i for i in range(start) if plain[i].text == "<"), default=0) - 1
    words = {token.text for token in plain}
    name = plain[before].text if before >= 0 and "operator" not in words else ""
    return _Function(
        name=name, is_kernel="__global__" in words, parameters=plain[start:end], body=body
    )


def _plain(head: Sequence[Token]) -> list[Token]:
    """Without template parameters and attributes."""
    kept: list[Token] = []
    i = 0
    while i < len(head):
        following = head[i + 1].text if i + 1 < len(head) else ""
        skipped: int | None = None
        if (head[i].text == "template" and following == "<") or (
            head[i].text in _WITH_ARGUMENTS and following == "("
        ):
            skipped = _end(head, i + 1)
        elif head[i].text == following == "[":
            skipped = _end(head, i)
        if skipped is None:
            kept.append(head[i])
        i = (skipped or i) + 1
    return kept


def _end(found: Sequence[Token], start: int) -> int | None:
    """The index of the bracket that closes the one at start; angles in parentheses don't count."""
    opening = found[start].text
    closing = _CLOSING[opening]
    depth = parentheses = 0
    stop = start + _LONGEST_ANGLES if opening == "<" else len(found)
    for i in range(start, min(stop, len(found))):
        text = found[i].text
        if opening == "<":
            parentheses += (text == "(") - (text == ")")
        if parentheses == 0 or opening == "(":
            depth += (text == opening) - (text == closing)
            if depth == 0:
                return i
    return None


def _dynamic(statement: Sequence[Token]) -> list[str]:
    """The arrays that a declaration of dynamic LDS names; none if it is another statement."""
    if statement and statement[0].text == _MACRO:
        return [token.text for token in statement if token.kind == "word"][-1:]
    plain = _plain(statement)
    if not {"extern", "__shared__"} <= {token.text for token in plain}:
        return []
    return _arrays(plain)


def _arrays(plain: Sequence[Token]) -> list[str]:
    pairs = pairwise(plain)
    return [a.text for a, b in pairs if a.kind == "word" and b.text == "["]


def _uses(function: _Function, outer: set[str]) -> list[_Use]:
    """Of arrays and of what may be functions, in order, without declarations."""
    statements = [*_statements(function.body)]
    hidden = {token.text for token in function.parameters}
    hidden |= {name for _, statement in statements for name in _local(statement)}
    arrays = outer - hidden
    arrays |= {name for _, statement in statements for name in _dynamic(statement)}
    uses: list[_Use] = []
    for path, statement in statements:
        if _dynamic(statement):
            continue
        for i, token in enumerate(statement):
            if token.kind != "word" or _is_member(statement, i):
                continue
            called = i + 1 < len(statement) and statement[i + 1].text in ("(", "<")
            if token.text in arrays or called:
                is_call = token.text not in arrays
                uses.append(_Use(name=token.text, is_call=is_call, path=path, token=token))
    return uses


def _is_member(statement: Sequence[Token], i: int) -> bool:
    before = [token.text for token in statement[max(0, i - 2) : i]]
    return before[-1:] == ["."] or before == ["-", ">"]


def _local(statement: Sequence[Token]) -> Iterator[str]:
    """Names that it may declare: a word behind another, or behind one with * or &."""
    if _dynamic(statement):
        return
    if any(token.text == "__shared__" for token in statement):
        yield from _arrays(_plain(statement))
    words = [token for token in statement if token.text not in ("*", "&")]
    for before, token in pairwise(words):
        if before.kind == token.kind == "word" and before.text not in _BEFORE_A_VALUE:
            yield token.text


def _statements(body: Sequence[Token]) -> Iterator[tuple[Path, list[Token]]]:
    """Runs of tokens between semicolons and braces, with the blocks round them."""
    path: Path = (0,)
    blocks = 0
    run: list[Token] = []
    for token in body:
        if token.text not in (";", "{", "}"):
            run.append(token)
            continue
        yield path, run
        run = []
        if token.text == "{":
            blocks += 1
            path = (*path, blocks)
        elif token.text == "}":
            path = path[:-1]
    yield path, run
