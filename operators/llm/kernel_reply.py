"""A writer's reply: a whole kernel file or SEARCH/REPLACE edits of the Base, and a report."""

import re
from dataclasses import dataclass

from operators.llm.fences import Edit, edits, fences, without
from operators.llm.question import Failure, Malformed, Reply
from operators.llm.reading.files import CLOSING, OPENING, File, files
from operators.llm.said import check_said, cut_off

REPORT_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelReply:
    source: str
    report: str


def read_kernel(reply: Reply, base: str, *, edited: str = "Base") -> KernelReply:
    """base: the source that edits apply to; edited: what the prompt calls it. Raises Malformed.

    Of several files the last counts that comes to its end and is not the base again: a model
    that sends two has corrected itself. Edits count where there is no such file.
    """
    check_said(reply)
    text = reply.text.replace("\r\n", "\n")
    found, unfinished = edits(text)
    given = [one for one in files(text) if not _within(one, found)]
    whole = [one for one in given if one.complete and not (one.last and reply.finish == "length")]
    new = [one for one in whole if one.source.strip() != base.strip()]
    if new or (whole and not found):
        return KernelReply(source=(new or whole)[-1].source, report=_report(text, given))
    if found and not unfinished:
        source = apply_edits(base, found, edited)
        return KernelReply(source=source, report=_report(text, given))
    if reply.finish == "length":
        raise cut_off(reply)
    raise _no_kernel(text, given, len(found) + 1 if unfinished else 0)


def _within(file: File, found: list[Edit]) -> bool:
    return any(edit.start <= file.start < edit.end for edit in found)


def _no_kernel(text: str, given: list[File], unfinished: int) -> Malformed:
    """What is missing. unfinished: number of the edit that does not come to its end; 0: none."""
    if unfinished:
        return Malformed(
            Failure.TRUNCATED,
            f"edit {unfinished} does not come to its end; an edit needs the three lines "
            "<<<<<<< SEARCH, ======= and >>>>>>> REPLACE",
        )
    if given and CLOSING not in given[-1].source:
        return Malformed(
            Failure.TRUNCATED,
            f"the front matter of the kernel file is not closed by {CLOSING}; give the file, to "
            "its end, in one closed fence",
        )
    if given and not given[-1].code:
        return Malformed(
            Failure.MISSING_FIELDS,
            "there is front matter and no code behind it; give both as one file in one fence",
        )
    if given:
        return Malformed(
            Failure.TRUNCATED,
            "the kernel file does not come to its end: its braces do not close; give it whole, "
            "in one fence, with ``` on a line of its own before and after it",
        )
    if fences(text):
        return Malformed(
            Failure.MISSING_FIELDS,
            f"the code has no front matter: a kernel file begins with {OPENING} and its YAML, "
            f"closed by {CLOSING}",
        )
    return Malformed(
        Failure.PROSE_ONLY,
        "there is neither a kernel file nor a SEARCH/REPLACE edit in the reply",
    )


# --- edits ------------------------------------------------------------------------------------


def apply_edits(base: str, found: list[Edit], edited: str = "Base") -> str:
    """Each edit in turn: at the one exact place, else at the one that differs in blanks only.

    Raises Malformed(BAD_EDIT).
    """
    text = base
    for number, edit in enumerate(found, start=1):
        start, end = _place(text, edit.search, number, edited)
        text = text[:start] + edit.replace + text[end:]
    if text == base:
        raise Malformed(Failure.BAD_EDIT, f"the edits change nothing in the {edited}")
    return text


def _place(text: str, search: str, number: int, edited: str) -> tuple[int, int]:
    """Span of the lines that are searched for."""
    if not search.strip():
        raise Malformed(Failure.BAD_EDIT, f"edit {number} searches for nothing")
    # Whole lines: what is searched for ends in a line break, and begins where a line does.
    found = [m.start() for m in re.finditer("^" + re.escape(search), text, re.MULTILINE)]
    if len(found) == 1:
        return found[0], found[0] + len(search)
    if not found:
        spans = _spans_but_for_blanks(text, search)
        if len(spans) == 1:
            return spans[0]
        found = [start for start, _ in spans]
    if not found:
        first = search.strip().splitlines()[0].strip()
        raise Malformed(
            Failure.BAD_EDIT,
            f"the SEARCH text of edit {number} (from {first[:80]!r}) is not in the {edited}"
            f"{' as the edits before it leave it' if number > 1 else ''}; copy its lines exactly, "
            "or give the whole file",
        )
    raise Malformed(
        Failure.BAD_EDIT,
        f"the SEARCH text of edit {number} stands in the {edited} {len(found)} times; take more "
        "lines into it",
    )


def _spans_but_for_blanks(text: str, search: str) -> list[tuple[int, int]]:
    """Where the lines of search stand in text, blanks and empty lines not counted."""
    wanted = [line for line in map(_bare, search.splitlines()) if line]
    starts: list[int] = []
    ends: list[int] = []
    bare: list[str] = []
    place = 0
    for line in text.splitlines(keepends=True):
        if _bare(line):
            starts.append(place)
            ends.append(place + len(line))
            bare.append(_bare(line))
        place += len(line)
    return [
        (starts[i], ends[i + len(wanted) - 1])
        for i in range(len(bare) - len(wanted) + 1)
        if bare[i : i + len(wanted)] == wanted
    ]


def _bare(line: str) -> str:
    return "".join(line.split())


# --- the report -------------------------------------------------------------------------------

_HEADING = re.compile(
    r"^[^\w\n]*report[^\w\n]*$|^#+[ \t]*report\b[^\n]*$|^\**report\**:\**", re.I | re.M
)


def _report(text: str, given: list[File]) -> str:
    """What stands under a heading "Report", else all prose outside of code."""
    rest = without(text, given)
    blocks = fences(rest)
    named = [block.body for block in blocks if block.name.strip().lower() == "report"]
    outside = without(rest, blocks)
    prose = without(outside, edits(outside)[0])
    heading = _HEADING.search(prose)
    said = named[-1] if named else prose[heading.end() :] if heading else prose
    lines = [line for line in said.strip().splitlines() if line.strip("`~ ")]
    return "\n".join(lines).strip()[:REPORT_CHARACTERS]
