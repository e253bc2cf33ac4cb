"""The findings' file: readable YAML, written anew at every distillation, and open to a person."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from engine.config_errors import first_problem
from evaluators.lined_yaml import YamlError, load, plain
from operators.finding import (
    About,
    By,
    Condition,
    Finding,
    Kind,
    best_founded,
    identity,
    number_text,
)

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


class FindingsError(Exception):
    """A file of findings that can't be used: which, where, why, and what to do."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _About(_Part):
    technique: str = ""
    recipe: tuple[str, ...] = ()
    family: str = ""
    params: dict[str, int] = {}
    shape: str = ""
    parameter: str = ""
    change: tuple[int, int] | None = None
    status: str = ""
    reason: str = ""


class _Condition(_Part):
    task: str = ""
    task_hash: str = ""
    shapes: tuple[str, ...] = ()
    backend: str = ""
    device_class: str = ""


class _Entry(_Part):
    """number: for people, it is not read."""

    id: str = ""
    rule: str = Field(min_length=1)
    number: str = ""
    ratio: tuple[float, float, float] | None = None
    failures: int = Field(default=0, ge=0)
    shown_by: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    standing: float = Field(default=1.0, ge=0, le=1)
    by: By = "person"
    origin: str = ""
    about: _About = _About()
    condition: _Condition | None = None
    fallen: str = ""

    @model_validator(mode="after")
    def _in_order(self) -> "_Entry":
        if self.ratio is not None:
            estimate, low, high = self.ratio
            if not 0 < low <= estimate <= high:
                raise ValueError("ratio must be [estimate, low, high], each above 0")
        return self


class _Fallen(_Entry):
    kind: Kind = "win"


class _File(_Part):
    campaign: str = ""
    distillation: int = -1
    evaluations: int = 0
    condition: _Condition = _Condition()
    wins: tuple[_Entry, ...] = ()
    traps: tuple[_Entry, ...] = ()
    fallen: tuple[_Fallen, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingsFile:
    """What one file says. campaign: whose it is, or ""; distillation: the number of the one that
    wrote it, -1 of none; condition: of rules that name none."""

    campaign: str
    distillation: int
    evaluations: int
    condition: Condition
    findings: tuple[Finding, ...]


def read_findings(path: Path) -> FindingsFile:
    """Raises FindingsError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise FindingsError(f"{path} can't be read: {why}") from None
    try:
        values = plain(load(text))
    except YamlError as error:
        raise FindingsError(f"{path}, line {error.line}: {error.reason}") from None
    if not isinstance(values, dict):
        raise FindingsError(f"{path}: findings are a mapping with the lists wins and traps")
    lists = {key: [] if value is None else value for key, value in values.items()}
    try:
        read = _File.model_validate(lists)
    except ValidationError as error:
        raise FindingsError(f"{path}: {first_problem(error, _File)}") from None
    condition = Condition(**read.condition.model_dump())
    entries: list[tuple[Kind, _Entry]] = [("win", one) for one in read.wins]
    entries += [("trap", one) for one in read.traps]
    entries += [(one.kind, one) for one in read.fallen]
    return FindingsFile(
        campaign=read.campaign,
        distillation=read.distillation,
        evaluations=read.evaluations,
        condition=condition,
        findings=tuple(_finding(kind, one, condition) for kind, one in entries),
    )


def _finding(kind: Kind, entry: _Entry, head: Condition) -> Finding:
    own = entry.condition.model_dump(exclude_unset=True) if entry.condition else {}
    condition = replace(head, **own)
    about = About(**entry.about.model_dump())
    return Finding(
        id=entry.id or identity(kind, about, entry.rule, condition),
        kind=kind,
        rule=" ".join(entry.rule.split()),
        about=about,
        condition=condition,
        ratio=entry.ratio,
        failures=entry.failures,
        shown_by=entry.shown_by,
        against=entry.against,
        standing=entry.standing,
        fallen=entry.fallen,
        by=entry.by,
        origin=entry.origin,
    )


# --- writing --------------------------------------------------------------------------------------


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
    return HEAD.format(name=campaign or "of this folder") + body


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
    before = {one.id: one for one in written.get(told.distillation, ())}
    kept = [
        replace(one, by="person", fallen="")
        for one in found.values()
        if one.id not in before or _said(one) != _said(before[one.id])
    ]
    dropped = tuple(one for one in before if one not in found)
    return Edits(kept=tuple(kept), dropped=dropped)


def _said(one: Finding) -> tuple[str, str, bool, Literal["person", ""]]:
    """What a person may change; numbers are computed again."""
    by: Literal["person", ""] = "person" if one.by == "person" else ""
    return one.kind, " ".join(one.rule.split()), bool(one.fallen), by
