"""What several campaigns found, merged: printed for a person, as JSON, or written to a file."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO

from engine.cli.usage import UsageError
from engine.findings.file import findings_text, write_findings
from engine.findings.merge import Merged, merged
from engine.findings.reader import FindingsFile
from engine.findings.sources import findings_of
from operators.finding import Condition, Finding, number_text


def merge_campaigns(
    runs: Sequence[Path], stream: IO[str], *, out: Path | None, as_json: bool
) -> None:
    """Raises FindingsError; UsageError: the file can't be written."""
    found = merged([_named(findings_of(run), run) for run in runs])
    if out is not None:
        text = findings_text(
            found.findings,
            campaign=", ".join(found.campaigns),
            evaluations=0,
            condition=Condition(),
        )
        try:
            write_findings(out, text)
        except OSError as error:
            raise UsageError(f"{out} can't be written ({error.strerror}): name another") from None
    if as_json:
        print(json.dumps(asdict(found), indent=2), file=stream)
        return
    for line in _lines(found):
        print(line, file=stream)
    if out is not None:
        print(f"wrote {out}", file=stream)


def _named(told: FindingsFile, source: Path) -> FindingsFile:
    """A file that names no campaign goes by its own name."""
    return told if told.campaign else replace(told, campaign=source.stem)


def _lines(found: Merged) -> Iterator[str]:
    many = len(found.campaigns)
    yield f"{many} campaign{'s' * (many > 1)}: {', '.join(found.campaigns)}"
    if not found.findings:
        yield "no rule stands"
    places: dict[str, list[Finding]] = {}
    for one in found.findings:
        places.setdefault(_where(one.condition), []).append(one)
    for where, findings in places.items():
        yield f"\n{where}"
        for title, kind in (("wins", "win"), ("traps", "trap")):
            of_kind = [one for one in findings if one.kind == kind]
            if of_kind:
                yield f"  {title}"
            for one in of_kind:
                number = number_text(one)
                yield f"    {one.rule}{': ' if number else ''}{number} [{one.origin or one.by}]"
    if found.contradictions:
        yield "\nwhat contradicts"
        yield from (f"  {sentence}" for sentence in found.contradictions)


def _where(condition: Condition) -> str:
    task = f"{condition.task} ({condition.task_hash[:8]})" if condition.task else "any task"
    return f"{task} on {condition.device_class or 'any device'}"
