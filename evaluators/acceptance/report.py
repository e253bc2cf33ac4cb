"""The acceptance as a Markdown page that says what failed, why, and what to do."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from evaluators.acceptance.run import CHILD, Acceptance, accept, default_backend
from evaluators.acceptance.sections import sections
from evaluators.acceptance.trial import Result
from evaluators.acceptance.versions import found_versions, version_findings

EMULATED = (
    "The device is emulated on this machine's processor: nothing was timed, and no GPU took part"
)


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
    yield f"# Device acceptance: {_subject(acceptance)}, {verdict}"
    yield ""
    if not acceptance.timed:
        yield f"**{EMULATED}.**"
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


def _subject(acceptance: Acceptance) -> str:
    return acceptance.backend if acceptance.timed else f"{acceptance.backend}, emulated"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(_cell, row))} |"
    yield ""


def _cell(text: str) -> str:
    """On one line, and with nothing in it that ends a table's cell."""
    return " ".join(text.split()).replace("|", "\\|")


def accept_device(
    backend_name: str | None,
    out: Path,
    stream: IO[str],
    *,
    only: Sequence[str] = (),
    child: Sequence[str] = CHILD,
) -> int:
    """The exit code: 0 when everything passed that applies. backend_name: None finds a GPU.

    Raises BackendMissing; OSError when the report can't be written, before anything runs.
    """
    name = backend_name or default_backend()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.touch()

    def tell(result: Result) -> None:
        print(line(result), file=stream, flush=True)

    acceptance = accept(name, only=only, child=child, tell=tell)
    versions = {"Python": platform.python_version(), "system": platform.platform()}
    versions |= found_versions().shown()
    versions |= {one.level: one.sentence for one in version_findings()}
    out.write_text(markdown(acceptance, versions, when=datetime.now(UTC)), encoding="utf-8")
    failed = sum(result.state == "FAIL" for result in acceptance.results)
    verdict = "accepted" if acceptance.accepted else f"not accepted: {failed} failed"
    said = "" if acceptance.timed else f"; {EMULATED}"
    print(f"\n{_subject(acceptance)}: {verdict}; the report is {out}{said}", file=stream)
    return 0 if acceptance.accepted else 1
