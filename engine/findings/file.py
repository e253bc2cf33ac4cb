"""The findings' file: readable YAML, written anew at every distillation, and open to a person."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import yaml

from engine.findings.reader import one_line, read_findings
from operators.finding import Condition, Finding, best_founded, number_text

HEAD = """\
# What the campaign {name} found: rules that its results bear out, the best founded first, each with
# its number (how many times as fast, with a 95% interval) and the kernels that show it.
# It is written anew at every distillation, and it may be edited: a rule that you change or add
# (`- rule: ...` is enough) is kept as yours and told to operators and models; one that you take out
# stays out. `kernel-scientist findings` merges such files; `findings: [FILE]` in a configuration
# begins a campaign with them.
"""
WIDTH = 100
DIGITS = 4


def findings_text(
    findings: Sequence[Finding],
    *,
    campaign: str,
    evaluations: int,
    condition: Condition,
    distillation: int = -1,
) -> str:
    """The same for the same findings; read_findings() gives them back."""
    standing = best_founded(findings)
    values: dict[str, Any] = {
        "campaign": campaign,
        **({"distillation": distillation} if distillation >= 0 else {}),
        "evaluations": evaluations,
        "condition": _filled(asdict(condition)),
        "wins": [_plain(one, condition) for one in standing if one.kind == "win"],
        "traps": [_plain(one, condition) for one in standing if one.kind == "trap"],
        "fallen": [{"kind": one.kind, **_plain(one, condition)} for one in findings if one.fallen],
    }
    body = yaml.safe_dump(
        values, sort_keys=False, width=WIDTH, allow_unicode=True, default_flow_style=None
    )
    return HEAD.format(name=one_line(campaign) or "of this folder") + body


def _plain(one: Finding, head: Condition) -> dict[str, Any]:
    values: dict[str, Any] = {"id": one.id, "rule": one.rule}
    if one.fallen:
        values["fallen"] = one.fallen
    if number := number_text(one):
        values["number"] = number
    if one.ratio is not None:
        values["ratio"] = [float(f"{value:.{DIGITS}g}") for value in one.ratio]
    if one.failures:
        values["failures"] = one.failures
    values |= _filled({"shown_by": list(one.shown_by), "against": list(one.against)})
    values["standing"] = one.standing
    values["by"] = one.by
    values |= _filled({"origin": one.origin, "about": _filled(asdict(one.about))})
    own, of_head = asdict(one.condition), asdict(head)
    differing = {key: value for key, value in own.items() if value != of_head[key]}
    if differing:
        values["condition"] = {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in differing.items()
        }
    return values


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is empty; tuples as lists, which YAML has."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if value not in ("", (), [], {}, None)
    }


def write_findings(path: Path, text: str) -> None:
    """In one step: a reader, or a kill, never meets half a file. Raises OSError."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


# --- what a person did to it ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """kept: rules that a person changed or added; dropped: ids of those taken out."""

    kept: tuple[Finding, ...] = ()
    dropped: tuple[str, ...] = ()

    def applied(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        changed = {one.id: one for one in self.kept}
        left = [changed.pop(one.id, one) for one in findings if one.id not in self.dropped]
        return (*left, *changed.values())


def edits_of(path: Path, written: Mapping[int, Sequence[Finding]]) -> Edits:
    """How the file differs from what was written into it; none where it is gone. written: by the
    number of the distillation. Raises FindingsError where it can't be read."""
    if not path.exists():
        return Edits()
    told = read_findings(path)
    found = {one.id: one for one in told.findings}
    known = written.get(told.distillation)
    last = written[max(written)] if written else ()  # where a person took the number out
    before = {one.id: one for one in (last if known is None else known)}
    kept = [
        replace(one, by="person", fallen="")
        for one in found.values()
        if one.id not in before or _said(one) != _said(before[one.id])
    ]
    dropped = tuple(one for one in before if one not in found) if known is not None else ()
    return Edits(kept=tuple(kept), dropped=dropped)


def _said(one: Finding) -> tuple[str, str, bool, Literal["person", ""]]:
    """What a person may change; numbers are computed again."""
    by: Literal["person", ""] = "person" if one.by == "person" else ""
    return one.kind, one_line(one.rule), bool(one.fallen), by
