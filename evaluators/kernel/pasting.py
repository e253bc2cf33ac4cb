"""What ## could make of a source's words: none that is forbidden, whoever expands the macros.

Not every compiler lets us see the text after its preprocessor (NVRTC does not), so words that
must not be there must not be made.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.tokens import Token, tokens

ASSEMBLY = ("asm", "__asm", "__asm__")
_LONG = (
    *("_Pragma", "__pragma", "__attribute__", "__attribute", "__declspec"),
    *("__has_include", "__has_include_next", "__has_embed"),
    *("__DATE__", "__TIME__", "__TIMESTAMP__"),
)
_CONDITION = re.compile(r"(?:el)?if\b(.*)")
_DEFINE = re.compile(r"define\s+(\w+)(?:\(([^)]*)\))?(.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Macro:
    name: str
    parameters: frozenset[str]
    body: Sequence[Token]


def check_pasting(found: Sequence[Token]) -> None:
    """Raises Rejected(INVALID) where pieces that macros may join give a forbidden word.

    found: a normalised source's tokens. Of the short words for assembly only the pieces count
    that macros of the source can meet, and only where ## stands somewhere.
    """
    macros = [*_macros(found)]
    plain = [*_with_conditions(found)]
    _check(_LONG, [*plain, *(token for macro in macros for token in macro.body)])
    if any("##" in token.text for token in found if token.kind == "directive"):
        _check(ASSEMBLY, [*_met(plain, macros)])


def _with_conditions(found: Iterable[Token]) -> Iterator[Token]:
    """What macros are expanded in: all but directives, and the conditions of #if."""
    for token in found:
        if token.kind != "directive":
            yield token
        elif condition := _CONDITION.fullmatch(token.text):
            yield from tokens(condition[1], token.line)


def _macros(found: Iterable[Token]) -> Iterator[_Macro]:
    for token in found:
        if token.kind == "directive" and (made := _DEFINE.fullmatch(token.text)):
            yield _Macro(
                name=made[1],
                parameters=frozenset(re.findall(r"\w+", made[2] or "")),
                body=[*tokens(made[3], token.line)],
            )


def _met(plain: Iterable[Token], macros: Sequence[_Macro]) -> Iterator[Token]:
    """Words in macros' bodies, and in parentheses behind a macro's name or another parenthesis."""
    names = {macro.name for macro in macros}
    for macro in macros:
        yield from (token for token in macro.body if token.text not in macro.parameters)
    loose = any(_balance(macro.body) for macro in macros)  # such a body may open an argument list
    depth, before = 0, ""
    for token in plain:
        if token.text == "(" and (depth or before in names or before == ")"):
            depth += 1
        elif token.text == ")" and depth:
            depth -= 1
        elif depth or loose:
            yield token
        before = token.text


def _balance(body: Iterable[Token]) -> int:
    return sum((token.text == "(") - (token.text == ")") for token in body)


def _check(words: Iterable[str], among: Sequence[Token]) -> None:
    pieces = {token.text: token for token in among if token.kind in ("word", "number")}
    for word in words:
        if parts := _parts(word, pieces):
            why = "inline assembly is not allowed" if word in ASSEMBLY else "that can't be checked"
            raise Rejected(
                Status.INVALID,
                f"## could make {word} of {' and '.join(parts)}: {why}; give one of these "
                "another name",
                line=pieces[parts[-1]].line,
            )


def _parts(word: str, pieces: Iterable[str]) -> list[str]:
    """Two or more of the pieces that give the word, in order; empty when there are none."""
    usable = [piece for piece in pieces if piece != word and piece in word]
    ways: dict[int, list[str]] = {0: []}
    for end in range(1, len(word) + 1):
        for piece in usable:
            start = end - len(piece)
            if start in ways and word[start:end] == piece:
                ways[end] = [*ways[start], piece]
                break
    return ways.get(len(word), [])
