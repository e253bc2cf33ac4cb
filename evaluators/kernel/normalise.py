"""The one text of a kernel that every compiler gets, and that we read: without what hides code.

Compilers disagree on which line ends, splices and comments there are: NVRTC leaves a backslash
apart from its newline when blanks stand between, g++ and clang end a line at a lone carriage
return. So lines, splices and comments are decided here, and what compilers may still read
differently is refused.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache

from evaluators.evaluation import Rejected, Status

LINE_END = re.compile(r"\r\n|\r|\n")
WORD = r"[A-Za-z_][A-Za-z0-9_]*"
NUMBER = r"\.?[0-9](?:[eEpP][+-]|'[A-Za-z0-9_]|[A-Za-z0-9_.])*"
LITERAL = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"

_TURNING = r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
"""A person sees other code behind them than a compiler (Boucher and Anderson, Trojan Source)."""
_UNREADABLE = re.compile(rf"[\x00-\x08\x0e-\x1f\x7f]|{_TURNING}|[\ud800-\udfff]")
_TRIGRAPH = r"\?\?[=/'()!<>-]"
_DIGRAPH = r"%:|<%|%>|:>|<:(?!:(?![:>]))"  # in <::x the first sign is < alone
_PIECE = re.compile(
    r"(?P<newline>\n)"
    r"|(?P<blank>[ \t\v\f]+)"
    r"|(?P<comment>//[^\n]*|/\*(?s:.*?)\*/)"
    r"|(?P<open>/\*)"
    r'|(?P<raw>(?:u8|u|U|L)?R")'
    rf"|(?P<word>{WORD})"
    rf"|(?P<number>{NUMBER})"
    rf"|(?P<literal>{LITERAL})"
    r"|(?P<quote>[\"'])"
    rf"|(?P<trigraph>{_TRIGRAPH})"
    rf"|(?P<digraph>{_DIGRAPH})"
    r"|(?P<stray>[\\$]|[^\x00-\x7f])"
    r"|(?P<sign>.)"
)
_REASONS = {
    "open": "a comment is not closed",
    "raw": "raw string literals are not allowed",
    "quote": "a string or character literal is not closed on its line",
}


def count_lines(text: str) -> int:
    """How many line ends of any kind there are."""
    return sum(1 for _ in LINE_END.finditer(text))


def check_readable(text: str, first_line: int = 1) -> None:
    """Raises Rejected(INVALID) for text that is not UTF-8, or holds control characters."""
    if found := _UNREADABLE.search(text):
        line = first_line + count_lines(text[: found.start()])
        if found[0] >= "\ud800":
            raise _invalid("the text is not UTF-8: save the file as UTF-8", line)
        name = "NUL" if found[0] == "\0" else f"U+{ord(found[0]):04X}"
        raise _invalid(f"the control character {name} is not allowed", line)


@lru_cache(maxsize=64)  # one text is normalised where it is written and where it is compiled
def normalised(code: str, first_line: int = 1) -> str:
    """Lines end in one newline, splices are joined, comments are blanks; as many lines as before.

    A joined line is followed by empty ones in place of what was joined. Raises
    Rejected(INVALID) with the line for what compilers may read in more than one way: an unclosed
    comment or literal, raw strings, trigraphs, digraphs, universal character names, characters
    beyond ASCII outside of literals.
    """
    check_readable(code, first_line)
    return _Normaliser(_join(code), first_line).text()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Joined:
    """Text with its spliced lines joined. lines: how many of the file's are in each of its own.

    loose: where a splice with blanks between backslash and newline was, in ascending order.
    """

    text: str
    lines: tuple[int, ...]
    loose: tuple[int, ...]


def _join(code: str) -> _Joined:
    rows: list[str] = []
    lines: list[int] = []
    loose: list[int] = []
    row, taken, position = "", 0, 0
    for piece in LINE_END.split(code):
        row, taken = row + piece, taken + 1
        bare = row.rstrip(" \t\v\f")
        if bare.endswith("\\"):
            if bare != row:
                loose.append(position + len(bare) - 1)
            row = bare[:-1]
            continue
        rows.append(row)
        lines.append(taken)
        position += len(row) + 1
        row, taken = "", 0
    if taken:  # the text ends in a splice
        rows.append(row)
        lines.append(taken)
    return _Joined(text="\n".join(rows), lines=tuple(lines), loose=tuple(loose))


@dataclass(slots=True)
class _Normaliser:
    """Reads joined text once. line: of the file; row: of the joined text."""

    joined: _Joined
    line: int
    row: int = 0
    owed: int = 0  # newlines due at this line's end
    fresh: bool = True  # nothing but blanks so far on this line
    broken: bool = False  # this line was ended in a comment
    directive: str = ""  # "#", then its name
    written: list[str] = field(default_factory=list)

    def text(self) -> str:
        for piece in _PIECE.finditer(self.joined.text):
            self.take(piece)
        return "".join([*self.written, "\n" * (self.joined.lines[self.row] + self.owed)])

    def take(self, piece: re.Match[str]) -> None:
        kind, text = str(piece.lastgroup), piece[0]
        if kind == "newline":
            self.written.append("\n" * (self.joined.lines[self.row] + self.owed))
            self.next_row()
            self.owed, self.fresh, self.broken, self.directive = 0, True, False, ""
        elif kind == "blank":
            self.written.append(text.replace("\v", " ").replace("\f", " "))
        elif kind == "comment":
            self.comment(text, piece.start(), piece.end())
        else:
            self.token(kind, text)

    def next_row(self) -> None:
        self.line += self.joined.lines[self.row]
        self.row += 1

    def comment(self, text: str, start: int, end: int) -> None:
        loose = self.joined.loose
        at = bisect_left(loose, start)
        if text.startswith("//") and at < len(loose) and loose[at] <= end:
            raise _invalid(
                "a // comment ends in a backslash with blanks behind it: compilers disagree "
                "whether the next line belongs to it; take the backslash out",
                self.line,
            )
        before = self.line
        for _ in range(text.count("\n")):
            self.next_row()
        if self.directive:
            self.written.append(" ")
            self.owed += self.line - before
        else:
            self.written.append(" " + "\n" * (self.line - before))
            self.broken = self.broken or (self.line > before and not self.fresh)

    def token(self, kind: str, text: str) -> None:
        if kind == "quote" and self.directive == "error":
            text, kind = " ", "blank"  # of a sentence, such as: it's
        if reason := _REASONS.get(kind, ""):
            raise _invalid(reason, self.line)
        if kind in ("digraph", "trigraph"):
            raise _invalid(f"the {kind} {text} is not allowed", self.line)
        if kind == "stray":
            raise _invalid(
                f"the character {text} (U+{ord(text):04X}) stands outside of a comment or literal",
                self.line,
            )
        if kind == "literal" and not text.isprintable():
            raise _invalid("a literal holds a character that can't be printed", self.line)
        if kind == "literal" and (found := re.search(_TRIGRAPH, text)):
            raise _invalid(f"the trigraph {found[0]} is not allowed", self.line)
        self.see(kind, text)
        self.written.append(text)

    def see(self, kind: str, text: str) -> None:
        """What this token makes of the line."""
        if text == "#" and self.broken:
            raise _invalid("a # stands behind a comment of several lines", self.line)
        if text == "#" and self.fresh:
            self.directive = "#"
        elif self.directive == "#":
            self.directive = text if kind == "word" else "none"
        self.fresh = False


def _invalid(reason: str, line: int) -> Rejected:
    return Rejected(Status.INVALID, reason, line=line)
