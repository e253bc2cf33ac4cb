"""A C++ tokenizer that knows comments, literals, line splices and directives, and keeps lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evaluators.evaluation import Rejected, Status

Kind = Literal["word", "number", "literal", "sign", "directive"]

_SKIPPED = re.compile(r"(?:[ \t\r\f\v]|/\*.*?\*/|//[^\n]*)+", re.DOTALL)
_BLANKS = " \t\r\f\v"
_WORD = re.compile(r"[A-Za-z_$\u0080-\U0010ffff][\w$\u0080-\U0010ffff]*")
_NUMBER = re.compile(r"\.?\d(?:[eEpP][+-]|'\w|[\w.])*")
_LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'")
_RAW_PREFIX = re.compile(r'(?:u8|u|U|L)?R"')
_TRIGRAPH = re.compile(r"\?\?[=/'()!<>-]")
LINE_MARKER = re.compile(r'#(?:line)? (\d+) "((?:[^"\\]|\\.)*)"[ \d]*')


@dataclass(frozen=True, slots=True)
class Token:
    """One token; of a directive, text is everything behind the #, comments taken out."""

    kind: Kind
    text: str
    line: int


def tokens(text: str, first_line: int = 1) -> Iterator[Token]:
    """The tokens of unpreprocessed source. Raises Rejected(INVALID) for what can't be read safely.

    Trigraphs, digraphs for # and raw strings are refused: compilers disagree on them, and a
    disagreement could hide an #include.
    """
    if found := _TRIGRAPH.search(text):
        raise _invalid("trigraphs are not allowed", first_line + text.count("\n", 0, found.start()))
    joined, starts = _join_lines(text, first_line)
    return _scan(joined, starts)


def preprocessed_tokens(text: str) -> Iterator[Token]:
    """The tokens of a preprocessor's output, with their lines by its line markers."""
    block: list[str] = []
    first_line = 1
    for row in text.split("\n"):
        if marker := LINE_MARKER.fullmatch(row):
            yield from _scan("\n".join(block), _lines(block, first_line))
            block, first_line = [], int(marker.group(1))
        else:
            block.append(row)
    yield from _scan("\n".join(block), _lines(block, first_line))


def _lines(rows: list[str], first_line: int) -> list[int]:
    return list(range(first_line, first_line + len(rows) + 1))


def _join_lines(text: str, first_line: int) -> tuple[str, list[int]]:
    """Text with its spliced lines joined, and the line on which each of them began."""
    rows: list[str] = []
    starts: list[int] = []
    start, row = first_line, ""
    for offset, piece in enumerate(text.split("\n")):
        row += piece
        if row.rstrip(_BLANKS).endswith("\\"):
            row = row.rstrip(_BLANKS)[:-1]
            continue
        rows.append(row)
        starts.append(start)
        start, row = first_line + offset + 1, ""
    rows.append(row)
    starts.append(start)
    return "\n".join(rows), starts


def _scan(text: str, starts: list[int]) -> Iterator[Token]:
    position, row, fresh = 0, 0, True  # fresh: nothing but blanks so far on this line
    end = len(text)
    while position < end:
        character = text[position]
        line = starts[row]
        if character == "\n":
            position, row, fresh = position + 1, row + 1, True
            continue
        if skipped := _SKIPPED.match(text, position):
            row += skipped.group().count("\n")
            position = skipped.end()
            continue
        if text.startswith("/*", position):
            raise _invalid("a comment is not closed", line)
        if character == "#" and fresh:
            directive, position, rows = _directive(text, position + 1)
            yield Token("directive", directive, line)
            row += rows
            continue
        if text.startswith("%:", position):
            raise _invalid("the digraph %: is not allowed: write #", line)
        fresh = False
        if _RAW_PREFIX.match(text, position):
            raise _invalid("raw string literals are not allowed", line)
        token = _token(text, position, line)
        yield token
        position += len(token.text)


def _directive(text: str, position: int) -> tuple[str, int, int]:
    """What stands behind a #, where its line ends, and how many line ends its comments hold."""
    parts: list[str] = []
    rows = 0
    while position < len(text) and text[position] != "\n":
        if skipped := _SKIPPED.match(text, position):
            parts.append(" ")
            rows += skipped.group().count("\n")
            position = skipped.end()
        elif literal := _LITERAL.match(text, position):
            parts.append(literal.group())
            position = literal.end()
        else:
            parts.append(text[position])
            position += 1
    return "".join(parts).strip(), position, rows


def _token(text: str, position: int, line: int) -> Token:
    kinds: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("word", _WORD),
        ("number", _NUMBER),
        ("literal", _LITERAL),
    )
    for kind, pattern in kinds:
        if found := pattern.match(text, position):
            return Token(kind, found.group(), line)
    if text[position] in "\"'":
        raise _invalid("a string or character literal is not closed on its line", line)
    return Token("sign", text[position], line)


def _invalid(reason: str, line: int) -> Rejected:
    return Rejected(Status.INVALID, reason, line=line)
