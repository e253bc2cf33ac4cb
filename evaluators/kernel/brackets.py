"""How the brackets of a source nest: not too deeply, and none is left open at its end."""

from collections.abc import Iterable, Sequence

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.tokens import Token, tokens

MAX_DEPTH = 200
"""Of brackets within brackets; clang itself refuses more than 256."""

_CLOSES = {")": "(", "]": "[", "}": "{"}
_CHOICES = ("if", "el", "else")


def check_depth(found: Iterable[Token]) -> None:
    """Raises Rejected(INVALID) where brackets nest so deeply that a reader might not end well."""
    depth = 0
    for token in found:
        if token.kind == "sign":
            depth += (token.text in "([{") - (token.text in ")]}")
            if depth > MAX_DEPTH:
                raise Rejected(
                    Status.INVALID, f"brackets nest too deeply (limit {MAX_DEPTH})", line=token.line
                )


def check_brackets(found: Sequence[Token]) -> None:
    """check_depth, and Rejected(COMPILE_ERROR) for a source that ends within brackets.

    Compilers find that out behind the source's end, in what was put there, and some translators
    of ours before it. Where directives may choose or make brackets only a compiler can tell.
    """
    check_depth(found)
    if not any(_may_change_brackets(token) for token in found):
        _check_end(found)


def _may_change_brackets(token: Token) -> bool:
    if token.kind != "directive":
        return False
    if token.text.startswith(_CHOICES):
        return True
    inside = [one.text for one in tokens(token.text)] if token.text.startswith("define") else []
    return any(
        inside.count(closing) != inside.count(opening) for closing, opening in _CLOSES.items()
    )


def _check_end(found: Iterable[Token]) -> None:
    opened: list[Token] = []
    for token in found:
        if token.kind != "sign":
            continue
        if token.text in _CLOSES.values():
            opened.append(token)
        elif token.text in _CLOSES and (not opened or opened.pop().text != _CLOSES[token.text]):
            return  # the compiler says it better, on that line
    if opened:
        raise Rejected(
            Status.COMPILE_ERROR, f"this {opened[-1].text} is never closed", line=opened[-1].line
        )
