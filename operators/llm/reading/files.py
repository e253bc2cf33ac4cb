"""Kernel files in a model's text: in a fence, in one that is not closed, or in none."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

OPENING = "/*---"
CLOSING = "---*/"

_OPENED = re.compile(r"^[ \t]*(?:(?P<fence>`{3,}|~{3,})[\w+-]*[ \t]+)?/\*---", re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[^`]*")
# No line of C++ outside of comments: headings, rules, what frames an edit.
_NO_CODE = re.compile(
    r"#{2,6}[ \t]+\S.*"
    r"|#[ \t]+(?!(?:define|undef|include|if|ifdef|ifndef|elif|else|endif|pragma|error|warning|line)"
    r"\b)[^\W\d].*"
    r"|\*\*[A-Za-z][\w ]{0,40}:?\*\*:?(?:[ \t].*)?"
    r"|(?:Report|REPORT)(?::.*|[ \t]*)"
    r"|-{3,}[ \t]*|\*{3,}[ \t]*|<{5,}.*|={5,}.*|>{5,}.*"
)
_CODE_ENDS = re.compile(
    r".*[;{}\\][ \t]*(?://.*)?|[ \t]*#.*|[ \t]*//.*|.*\*/[ \t]*|[ \t]*\w+\(.*\)[ \t]*"
)
_LEXEMES = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n]){0,500}"|\'(?:\\.|[^\'\\\n])\'|/\*')


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """text[start:end] is the whole of it with its fences. last: no fence or heading ends it, so
    that it may have been cut off."""

    source: str
    start: int
    end: int
    last: bool

    @property
    def code(self) -> str:
        """What follows the front matter; empty where that is not closed."""
        return self.source.partition(CLOSING)[2].strip()

    @property
    def complete(self) -> bool:
        return bool(self.code) and not (self.last and open_braces(self.code))


def files(text: str) -> list[File]:
    """All that begin at the start of a line, in order."""
    found: list[File] = []
    comments = _Comments(text)
    for opened in _OPENED.finditer(text):
        if not found or opened.start() >= found[-1].end:
            found.append(_file(text, opened, comments))
    return found


def open_braces(code: str) -> int:
    """Braces opened and not closed, comments and strings left out; 1 where there are none."""
    bare, at = [], 0
    for start, end in _spans(code):
        bare.append(code[at:start])
        at = end
    left = "".join([*bare, code[at:]])
    return left.count("{") - left.count("}") if "{" in left else 1


def _file(text: str, opened: re.Match[str], comments: "_Comments") -> File:
    begin = opened.end() - len(OPENING)
    start, fence = _opening_fence(text, opened)
    end, after, closed = _end(text, begin, fence, comments)
    source = text[begin:end]
    if not closed:
        source = _without_prose(source)
        after = max(begin + len(source), begin + len(OPENING))
    return File(
        source=source.strip() + "\n",
        start=start,
        end=after,
        last=not closed and end == len(text),
    )


def _opening_fence(text: str, opened: re.Match[str]) -> tuple[int, str]:
    """Where the block begins, and the fence that opens it; empty: none does."""
    if opened["fence"]:
        return opened.start(), opened["fence"]
    line_end = opened.start() - 1
    while line_end > 0:
        line_start = text.rfind("\n", 0, line_end) + 1
        line = text[line_start:line_end]
        if fence := _FENCE.fullmatch(line):
            return line_start, fence["fence"]
        if line.strip():
            break
        line_end = line_start - 1
    return opened.start(), ""


def _end(text: str, begin: int, fence: str, comments: "_Comments") -> tuple[int, int, bool]:
    """Where the file ends, where what comes after begins, and whether its fence is closed there."""
    place, before = begin, OPENING
    while place < len(text):
        line_end = text.find("\n", place)
        line_end = len(text) if line_end < 0 else line_end
        line = text[place:line_end]
        if not before.endswith("\\") and place not in comments:
            if fence and line.rstrip(" \t").endswith(fence):
                last = place + line.rindex(fence)
                alone = line.strip(" \t") == fence
                return place if alone else last, line_end, True
            another = place > begin and _OPENED.match(line)
            if another or _FENCE.fullmatch(line) or _NO_CODE.fullmatch(line):
                return place, place, False
        place, before = line_end + 1, line
    return len(text), len(text), False


def _without_prose(source: str) -> str:
    """Without the sentences after its last line of code, where no fence says where that is."""
    front, closing, code = source.partition(CLOSING)
    lines = code.split("\n")
    while lines and not _CODE_ENDS.fullmatch(lines[-1]):
        lines.pop()
    return front + closing + "\n".join(lines) if lines else source


# --- comments and strings -----------------------------------------------------------------------


class _Comments:
    """Block comments of a text that come to an end."""

    def __init__(self, text: str) -> None:
        spans = [span for span in _spans(text) if text.startswith("/*", span[0])]
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def __contains__(self, place: int) -> bool:
        """Whether a comment has begun before the place, and goes on there."""
        before = bisect_left(self._starts, place)
        return before > 0 and self._ends[before - 1] > place


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Comments, strings and characters."""
    place = 0
    last = text.rfind("*/")
    while found := _LEXEMES.search(text, place):
        place = found.end()
        if found[0] == "/*":
            if place > last:
                continue
            place = text.index("*/", place) + 2
        yield found.start(), place
