"""Fenced blocks and SEARCH/REPLACE edits in a model's text, found in linear time."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})(?P<name>[^`]*)")
_SEARCH = re.compile(r"<{5,}[ \t]*SEARCH")
_BETWEEN = re.compile(r"={5,}[ \t]*")
_END = re.compile(r">{5,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """text[start:end] is the whole block; name: what stands behind its opening fence."""

    name: str
    body: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """text[start:end] is the whole edit."""

    search: str
    replace: str
    start: int
    end: int


class Block(Protocol):
    """text[start:end]."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


def fences(text: str) -> list[Fence]:
    """Blocks from an opening fence to the next line that is that fence alone."""
    lines = _lines(text)
    closing: dict[str, list[int]] = {}
    for i, (_, line) in enumerate(lines):
        closing.setdefault(line.strip(" \t"), []).append(i)
    found: list[Fence] = []
    i = 0
    while i < len(lines):
        start, line = lines[i]
        opening = _FENCE.fullmatch(line)
        places = closing.get(opening["fence"], []) if opening else []
        later = bisect_right(places, i)
        if opening is None or later == len(places):
            i += 1
            continue
        last = places[later]
        body = text[lines[i + 1][0] : lines[last][0]]
        end = lines[last][0] + len(lines[last][1])
        found.append(Fence(name=opening["name"], body=body, start=start, end=end))
        i = last + 1
    return found


def edits(text: str) -> tuple[list[Edit], bool]:
    """Each SEARCH/REPLACE edit that comes to its end, and whether one begins that does not."""
    found: list[Edit] = []
    begun = between = -1  # where its texts begin
    start = before = searches = 0
    for place, line in _lines(text):
        searches += bool(_SEARCH.match(line))
        if begun < 0 and _SEARCH.match(line):
            start, begun = place, place + len(line) + 1
        elif begun >= 0 and between < 0 and _BETWEEN.fullmatch(line):
            before, between = place, place + len(line) + 1
        elif between >= 0 and _END.match(line):
            search, replace = text[begun:before], text[between:place]
            end = place + len(line)
            found.append(Edit(search=search, replace=replace, start=start, end=end))
            begun = between = -1
    return found, searches > len(found)


def without(text: str, blocks: Sequence[Block]) -> str:
    """The text but for the blocks, which are in its order."""
    kept, at = [], 0
    for block in blocks:
        kept.append(text[at : block.start])
        at = block.end
    return "".join([*kept, text[at:]])


def _lines(text: str) -> list[tuple[int, str]]:
    """Each line with where it starts."""
    return list(_walk(text))


def _walk(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1
