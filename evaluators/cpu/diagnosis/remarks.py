"""Reads what compilers say of loops: g++'s -fopt-info and clang's optimization record."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from evaluators.cpu.fission.emit import THREADS_FILE
from evaluators.kernel.tokens import KERNEL_FILE

MOST_CHARACTERS = 4 << 20
"""Of a compiler's remarks; a large kernel makes a twentieth of it."""

Kind = Literal["vectorised", "partly", "missed", "gathered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One sentence about a place in a file.

    kind: a loop became vectors; straight code did, as what was a loop before it was unrolled; a
    loop did not; elements were gathered or scattered one by one.
    width: of the vectors, in bytes (g++) or lanes (clang). said: the compiler's own words, of
    everything that it tried on this loop.
    """

    file: str
    line: int
    kind: Kind
    width: int = 0
    said: str = ""


_GNU = re.compile(
    r"(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+): (?P<how>missed|optimized): +(?P<text>.*)"
)
_LOOP = re.compile(r"(?:outer )?loop vectorized using (\d+) byte vectors", re.IGNORECASE)
_BLOCK = re.compile(r"basic block part vectorized using (\d+) byte vectors")
_GATHER = re.compile(
    r"__builtin_ia32_(?:avx512_)?(?:gather|scatter)|\.(?:GATHER_LOAD|SCATTER_STORE)"
)
_CLOBBERS = "statement clobbers memory"
_GIVEN_UP = "couldn't vectorize loop"


_OURS = (f"{KERNEL_FILE}:", f"{THREADS_FILE}:")
"""Most of what is said is of headers."""


def read_gnu(text: str) -> Iterator[Remark]:
    """Of `-fopt-info-vec-optimized-missed-internals`.

    A loop is tried with several widths of vectors; why each failed comes under the loop's own
    place, then that it can't be done, then one last reason under some statement's place.
    """
    said: dict[tuple[str, ...], list[str]] = {}
    given_up: Remark | None = None
    for line in text.split("\n"):
        ours = line.startswith(_OURS)
        if not ours and given_up is None:
            continue
        found = _GNU.match(line)
        if found is None:
            continue
        words = found["text"]
        if given_up is not None:
            last = [words] if words.startswith("not vectorized") else []
            yield replace(given_up, said="\n".join([given_up.said, *last]))
            given_up = None
            if not ours:
                continue
        place = found.group("file", "line", "column")
        at = (found["file"], int(found["line"]))
        if found["how"] == "optimized":
            if loop := _LOOP.match(words):
                yield _gnu(at, "vectorised", loop[1], said.pop(place, []))
            elif block := _BLOCK.match(words):
                yield _gnu(at, "partly", block[1], [])
        elif words == _GIVEN_UP:
            given_up = _gnu(at, "missed", "0", said.pop(place, []))
        elif words.startswith(_CLOBBERS):
            if _GATHER.search(words):
                yield _gnu(at, "gathered", "0", [])
        else:
            said.setdefault(place, []).append(words)
    if given_up is not None:
        yield given_up


def _gnu(at: tuple[str, int], kind: Kind, width: str, said: list[str]) -> Remark:
    words = "\n".join(dict.fromkeys(said))
    return Remark(file=at[0], line=at[1], kind=kind, width=int(width), said=words)


_PLACE = re.compile(
    r"^DebugLoc: +\{ *File: '?(?P<file>[^',]+)'?, *Line: (?P<line>\d+),\s*Column: \d+ *\}", re.M
)
_NAME = re.compile(r"^Name: +(\w+)", re.M)
_WIDTH = re.compile(r"^ +- VectorizationFactor: *'?(?:vscale x )?(\d+)", re.M)
_STRING = re.compile(r"^ +- String: +(?:'((?:[^']|'')*)'|(.*))$", re.M)


def read_clang(text: str) -> Iterator[Remark]:
    """Of `-fsave-optimization-record=yaml`: analyses come ahead of the loop that was missed."""
    said: list[str] = []
    for document in text.split("--- !")[1:]:
        place, name = _PLACE.search(document), _NAME.search(document)
        if place is None or name is None:
            continue
        kind = document.split("\n", 1)[0].strip()
        width = int(found[1]) if (found := _WIDTH.search(document)) else 0
        at = (place["file"], int(place["line"]))
        if kind.startswith("Analysis"):
            said.append("".join(one or other for one, other in _STRING.findall(document)))
        elif "pass: slp" in " ".join(document.lower().split()) and kind == "Passed":
            yield Remark(file=at[0], line=at[1], kind="partly")
        elif kind == "Passed" and width > 1:
            yield Remark(file=at[0], line=at[1], kind="vectorised", width=width)
            said = []
        elif kind in ("Missed", "Passed"):
            yield Remark(file=at[0], line=at[1], kind="missed", said="\n".join(said))
            said = []
