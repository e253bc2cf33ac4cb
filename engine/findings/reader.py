"""Reading a file of findings: what may stand in it, and what is wrong with it, with its line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError, model_validator

from engine.config_errors import Keys, first_problem, place_of
from evaluators.lined_yaml import LinedDict, LinedList, YamlError, load, plain
from evaluators.spelling import printable
from evaluators.text_file import read_text
from operators.finding import About, By, Condition, Finding, Kind, identity

MOST_CHARACTERS = 4 << 20
"""Of a file: a large campaign's rules name hundreds of kernels each."""
MOST_RULES = 2000
MOST_OF_RULE = 2000
"""Characters: a rule is a sentence."""
MOST_RATIO = 1e30


class FindingsError(Exception):
    """A file of findings that can't be used: which, where, why, and what to do."""


def _sentence(text: str) -> str:
    """The rule on one line. Raises ValueError."""
    line = one_line(text)
    if not line:
        raise ValueError("write the rule, in a sentence")
    if len(line) > MOST_OF_RULE:
        raise ValueError(f"a rule has at most {MOST_OF_RULE} characters, and this has {len(line)}")
    return line


def one_line(text: str) -> str:
    """What would move a terminal's cursor is written by its code."""
    return printable(" ".join(text.split()))


Words = Annotated[str, AfterValidator(one_line)]


class _About(Keys):
    technique: str = ""
    recipe: tuple[str, ...] = ()
    family: str = ""
    params: dict[str, int] = Field(default_factory=dict)
    shape: str = ""
    parameter: str = ""
    change: tuple[int, int] | None = None
    status: str = ""
    reason: str = ""


class _Condition(Keys):
    task: Words = ""
    task_hash: Words = ""
    shapes: tuple[Words, ...] = ()
    backend: Words = ""
    device_class: Words = ""


class _Entry(Keys):
    """number: for people, it is not read."""

    id: Words = ""
    rule: Annotated[str, AfterValidator(_sentence)]
    number: str = ""
    ratio: tuple[float, float, float] | None = None
    failures: int = Field(default=0, ge=0, le=1_000_000)
    shown_by: tuple[Words, ...] = ()
    against: tuple[Words, ...] = ()
    standing: float = Field(default=1.0, ge=0, le=1)
    by: By = "person"
    origin: Words = ""
    about: _About = _About()
    condition: _Condition | None = None
    fallen: Words = ""

    @model_validator(mode="after")
    def _in_order(self) -> "_Entry":
        if self.ratio is not None:
            estimate, low, high = self.ratio
            if not 1 / MOST_RATIO <= low <= estimate <= high <= MOST_RATIO:
                raise ValueError("ratio must be [estimate, low, high], each above 0")
        return self


class _Fallen(_Entry):
    kind: Kind = "win"


class _File(Keys):
    campaign: Words = ""
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
    tree = _tree(path)
    lists = {key: [] if value is None else value for key, value in plain(tree).items()}
    try:
        read = _File.model_validate(lists)
    except ValidationError as error:
        line = _line(tree, place_of(error))
        raise FindingsError(f"{path}, line {line}: {first_problem(error, _File)}") from None
    condition = Condition(**read.condition.model_dump())
    entries: list[tuple[Kind, _Entry, tuple[str, int]]] = []
    entries += [("win", one, ("wins", place)) for place, one in enumerate(read.wins)]
    entries += [("trap", one, ("traps", place)) for place, one in enumerate(read.traps)]
    entries += [(one.kind, one, ("fallen", place)) for place, one in enumerate(read.fallen)]
    if len(entries) > MOST_RULES:
        raise FindingsError(
            f"{path}: it has {len(entries)} rules, and a file has {MOST_RULES} at most; keep those "
            "that matter"
        )
    found: dict[tuple[str, str], Finding] = {}
    for kind, entry, place in entries:
        one = _finding(kind, entry, condition)
        if (one.id, one.condition.task_hash) in found:
            what = f"id {one.id}" if entry.id else "rule"
            raise FindingsError(
                f"{path}, line {_line(tree, place)}: this {what} stands twice; leave it out here"
            )
        found[one.id, one.condition.task_hash] = one
    return FindingsFile(
        campaign=read.campaign,
        distillation=read.distillation,
        evaluations=read.evaluations,
        condition=condition,
        findings=tuple(found.values()),
    )


def _tree(path: Path) -> LinedDict:
    """Raises FindingsError."""
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise FindingsError(f"{path} can't be read: {why}") from None
    try:
        tree = load(text, MOST_CHARACTERS)
    except YamlError as error:
        raise FindingsError(f"{path}, line {error.line}: {error.reason}") from None
    if not isinstance(tree, LinedDict):
        raise FindingsError(
            f"{path} is no file of findings, which is a mapping with the lists wins and traps"
        )
    return tree


def _line(tree: Any, place: Sequence[int | str]) -> int:
    """Of what stands there, or of what is nearest to it."""
    line = 1
    for part in place:
        if isinstance(tree, LinedDict) and part in tree:
            line, tree = tree.lines[str(part)], tree[str(part)]
        elif isinstance(tree, LinedList) and isinstance(part, int) and part < len(tree):
            line, tree = tree.lines[part], tree[part]
    return line


def _finding(kind: Kind, entry: _Entry, head: Condition) -> Finding:
    own = entry.condition.model_dump(exclude_unset=True) if entry.condition else {}
    condition = replace(head, **own)
    about = About(**entry.about.model_dump())
    return Finding(
        id=entry.id or identity(kind, about, entry.rule, condition),
        kind=kind,
        rule=entry.rule,
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
