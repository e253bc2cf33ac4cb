"""The acceptance as a Markdown page that says what failed, why, and what to do."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from evaluators.acceptance.run import Acceptance
from evaluators.acceptance.sections import sections
from evaluators.acceptance.trial import Result


def markdown(acceptance: Acceptance, versions: Mapping[str, str], *, when: datetime) -> str:
    """versions: of what takes part, by name; when: with its time zone."""
    return "\n".join(_lines(acceptance, versions, when))


def line(result: Result) -> str:
    """For a terminal."""
    return f"{result.state:7}  {result.section}: {result.name}: {result.found}"


def _lines(acceptance: Acceptance, versions: Mapping[str, str], when: datetime) -> Iterator[str]:
    results = acceptance.results
    counts = {
        state: sum(r.state == state for r in results) for state in ("PASS", "FAIL", "SKIPPED")
    }
    verdict = "accepted" if acceptance.accepted else "NOT accepted"
    yield f"# Device acceptance: {acceptance.backend}, {verdict}"
    yield ""
    yield (
        f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIPPED']} skipped, "
        f"in {acceptance.seconds:.0f} s, {when.astimezone(UTC):%Y-%m-%d %H:%M} UTC."
    )
    yield ""
    if counts["FAIL"]:
        yield "## What failed, and what to do"
        yield ""
        for result in results:
            if result.state == "FAIL":
                yield f"- **{result.section}: {result.name}**: {_cell(result.found)}"
                yield f"  - To do: {result.todo}."
        yield ""
    yield "## Versions"
    yield ""
    yield from _table(("", "version"), [(name, found) for name, found in versions.items()])
    for section in sections():
        own = [result for result in results if result.section == section.name]
        if own:
            yield f"## {section.title}"
            yield ""
            yield from _table(
                ("trial", "", "found", "s"),
                [(r.name, r.state, r.found, f"{r.seconds:.1f}") for r in own],
            )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(_cell, row))} |"
    yield ""


def _cell(text: str) -> str:
    """On one line, and with nothing in it that ends a table's cell."""
    return " ".join(text.split()).replace("|", "\\|")
