"""Kernels' sources and what a step changed in them, highlighted."""

import difflib
from dataclasses import dataclass

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers.c_like import CudaLexer
from pygments.lexers.diff import DiffLexer

MOST_LINES, MOST_DIFF_LINES = 1500, 240
MOST_CHARACTERS = 400
"""Of a line: a model may write a table of numbers on one."""

_FORMATTER = HtmlFormatter(nowrap=True, classprefix="s-")
_KERNEL, _DIFF = CudaLexer(stripnl=False), DiffLexer(stripnl=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """html: lines with classes; lines: how many there are; left_out: those of them not shown."""

    html: Markup
    lines: int
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    listing: Listing
    added: int
    removed: int


def kernel_listing(source: str) -> Listing:
    lines = source.splitlines()
    shown = "\n".join(map(_cut, lines[:MOST_LINES]))
    left_out = max(0, len(lines) - MOST_LINES)
    return Listing(html=_marked(shown, _KERNEL), lines=len(lines), left_out=left_out)


def diff_listing(before: str, after: str) -> Diff:
    """What changed, as a unified diff, with three lines around each change."""
    lines = list(
        difflib.unified_diff(before.splitlines(), after.splitlines(), "Base", "kernel", lineterm="")
    )[2:]
    shown = "\n".join(map(_cut, lines[:MOST_DIFF_LINES]))
    listing = Listing(
        html=_marked(shown, _DIFF),
        lines=len(lines),
        left_out=max(0, len(lines) - MOST_DIFF_LINES),
    )
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return Diff(listing=listing, added=added, removed=removed)


def _cut(line: str) -> str:
    return line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + " …"


def _marked(text: str, lexer: CudaLexer | DiffLexer) -> Markup:
    return Markup(highlight(text, lexer, _FORMATTER))
