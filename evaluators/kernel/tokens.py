"""The C++ tokens of normalised or preprocessed text, with their lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, cast

from evaluators.kernel.normalise import LITERAL, NUMBER, WORD

KERNEL_FILE = "kernel.hip"
"""What compilers are told that the kernel's file is called."""

Kind = Literal["word", "number", "literal", "sign", "directive"]

_PIECE = re.compile(
    rf"(?P<newline>\n)|(?P<blank>[ \t\r\v\f]+)|(?P<word>{WORD})|(?P<number>{NUMBER})"
    rf"|(?P<literal>{LITERAL})|(?P<sign>.)"
)
LINE_MARKER = re.compile(r'#(?:line)? (\d+) "((?:[^"\\]|\\.)*)"[ \d]*')


@dataclass(frozen=True, slots=True)
class Token:
    """One token; of a directive, text is everything behind the #. start: its place in the text."""

    kind: Kind
    text: str
    line: int
    start: int = field(default=-1, compare=False)


def tokens(text: str, first_line: int = 1) -> Iterator[Token]:
    """The tokens of normalised source; see normalise.normalised."""
    line, fresh, position = first_line, True, 0
    while piece := _PIECE.match(text, position):
        position = piece.end()
        if piece.lastgroup == "newline":
            line, fresh = line + 1, True
        elif piece.lastgroup == "blank":
            continue
        elif piece[0] == "#" and fresh:
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            yield Token("directive", text[position:end].strip(), line, piece.start())
            position = end
        else:
            fresh = False
            yield Token(cast(Kind, piece.lastgroup), piece[0], line, piece.start())


def preprocessed_tokens(text: str) -> Iterator[Token]:
    """The tokens of a preprocessor's output, with their lines by its line markers."""
    block: list[str] = []
    first_line = 1
    for row in text.split("\n"):
        if marker := LINE_MARKER.fullmatch(row):
            yield from tokens("\n".join(block), first_line)
            block, first_line = [], int(marker.group(1))
        else:
            block.append(row)
    yield from tokens("\n".join(block), first_line)
