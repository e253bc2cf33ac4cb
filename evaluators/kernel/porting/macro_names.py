"""Names that a kernel declares though they are macros ahead of its code: its parameters' names."""

import re
from collections.abc import Collection, Sequence

from evaluators.kernel.tokens import Token

_BEHIND_NAMES = frozenset("= , ; ) > [ ( {".split())  # noqa: SIM905 (as C++ writes them)
_NO_TYPES = frozenset("return case else sizeof throw new delete goto and or not co_return".split())  # noqa: SIM905

_TYPES = re.compile(r"void|bool|char|short|int|long|unsigned|float\d?|double\d?|half2?|const|\w+_t")


def declared_macro(found: Sequence[Token], macros: Collection[str]) -> tuple[str, int] | None:
    """One sentence on the first such name, and its line; None where there is none.

    Ask it about code that doesn't compile: it takes any word before the name for a type.
    """
    for i, token in enumerate(found[1:-1], 1):
        if token.kind != "word" or token.text not in macros:
            continue
        if found[i + 1].text not in _BEHIND_NAMES or not _is_type(found[:i]):
            continue
        return (
            f"{token.text} is declared here, but it is a macro ahead of the file, for a parameter "
            "has that name: rename one of the two",
            token.line,
        )
    return None


def _is_type(ahead: Sequence[Token]) -> bool:
    """Whether what stands ahead of a name may declare it; a * may multiply, but not types."""
    last = ahead[-1]
    if last.text in ("*", "&"):
        return len(ahead) > 1 and bool(_TYPES.fullmatch(ahead[-2].text))
    return last.kind == "word" and last.text not in _NO_TYPES
