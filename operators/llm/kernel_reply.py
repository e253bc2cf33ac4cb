"""A writer's reply: a whole kernel file or SEARCH/REPLACE edits of the Base, and a report."""

import re
from dataclasses import dataclass

from operators.llm.fences import Edit, edits, fences, without
from operators.llm.question import Failure, Malformed, Reply
from operators.llm.replies import check_said, cut_off

OPENING = "/*---"
CLOSING = "---*/"
REPORT_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelReply:
    source: str
    report: str


def read_kernel(reply: Reply, base: str) -> KernelReply:
    """base: the source that edits apply to. Raises Malformed."""
    check_said(reply)
    text = reply.text.replace("\r\n", "\n")
    whole = _whole_file(text)
    if whole is not None:
        return KernelReply(source=whole, report=_report(text))
    found, unfinished = edits(text)
    if found and not unfinished:
        return KernelReply(source=apply_edits(base, found), report=_report(text))
    if reply.finish == "length":
        raise cut_off(reply)
    if OPENING in text or unfinished:
        raise Malformed(
            Failure.TRUNCATED,
            "the kernel file or an edit does not come to its end; give it in one closed fence",
        )
    if fences(text):
        raise Malformed(
            Failure.MISSING_FIELDS,
            f"the code has no front matter: a kernel file begins with {OPENING} and its YAML, "
            f"closed by {CLOSING}",
        )
    raise Malformed(
        Failure.PROSE_ONLY, "there is neither a kernel file nor a SEARCH/REPLACE edit in the reply"
    )


def _whole_file(text: str) -> str | None:
    """The last complete kernel file: in a closed fence, or else all that follows bare prose."""
    files = [f.body for f in fences(text) if f.body.lstrip().startswith(OPENING)]
    if files:
        return files[-1].strip() + "\n"
    start = text.find(OPENING)
    if start < 0 or "```" in text or "~~~" in text or "<<<<<<<" in text:
        return None
    bare = text[start:]
    return bare.strip() + "\n" if CLOSING in bare and _balanced(bare) else None


def _balanced(text: str) -> bool:
    code = text.partition(CLOSING)[2]
    return "{" in code and code.count("{") == code.count("}")


# --- edits ------------------------------------------------------------------------------------


def apply_edits(base: str, found: list[Edit]) -> str:
    """Each edit in turn: at the one exact place, else at the one that differs in blanks only.

    Raises Malformed(BAD_EDIT).
    """
    text = base
    for number, edit in enumerate(found, start=1):
        start, end = _place(text, edit.search, number)
        text = text[:start] + edit.replace + text[end:]
    if text == base:
        raise Malformed(Failure.BAD_EDIT, "the edits change nothing in the Base")
    return text


def _place(text: str, search: str, number: int) -> tuple[int, int]:
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
            f"the SEARCH text of edit {number} (from {first[:80]!r}) is not in the Base; copy "
            "its lines exactly, or give the whole file",
        )
    raise Malformed(
        Failure.BAD_EDIT,
        f"the SEARCH text of edit {number} stands in the Base {len(found)} times; take more "
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


def _report(text: str) -> str:
    """What stands under a heading "Report", else all prose outside of code."""
    blocks = fences(text)
    named = [block.body for block in blocks if block.name.strip().lower() == "report"]
    outside = without(text, blocks)
    prose = without(outside, edits(outside)[0])
    heading = _HEADING.search(prose)
    said = named[-1] if named else prose[heading.end() :] if heading else prose
    if not named and not blocks:
        said = said.partition(OPENING)[0] if not heading else said
    lines = [line for line in said.strip().splitlines() if line.strip("`~ ")]
    return "\n".join(lines).strip()[:REPORT_CHARACTERS]
