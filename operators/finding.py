"""Finding: a short rule that results bear out, with its condition, its number and its kernels."""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["win", "trap"]
By = Literal["template", "model", "person"]

SHOWN = 3
"""Kernels that a line names; of further ones it says how many."""

FAILURES_WORTH = 0.1
"""ln of the gain that a trap of failures counts as, for each that it cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a rule is of, as far as results can be looked up by it; nothing: its words alone.

    technique: an experiment's name. recipe: those that led to the fastest kernel, in order.
    family: of the catalogue; with params, one point of it; shape: on this one alone.
    parameter, change: two values of one parameter, the smaller first. status, reason: how kernels
    failed; the reason without its numbers.
    """

    technique: str = ""
    recipe: tuple[str, ...] = ()
    family: str = ""
    params: Mapping[str, int] = field(default_factory=dict)
    shape: str = ""
    parameter: str = ""
    change: tuple[int, int] | None = None
    status: str = ""
    reason: str = ""

    @property
    def key(self) -> str:
        """The same for what may be compared; a campaign has one recipe and a family one best point,
        wherever that lies."""
        if self.recipe:
            return "recipe"
        if self.parameter and self.change:
            return f"parameter {self.family}/{self.parameter} {self.change[0]}>{self.change[1]}"
        if self.status:
            return f"failure {self.technique}/{self.status}/{self.reason}"
        if self.technique:
            return f"technique {self.technique}"
        where = f" on {self.shape}" if self.shape else ""
        what = "point" if self.params else "family"
        return f"{what} {self.family}{where}" if self.family else ""

    @property
    def moves(self) -> bool:
        """Whether it names what was the best at its time: another campaign's is another one."""
        return bool(self.params or self.recipe)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Where a rule was found. task "": it is bound to none; shapes: none named: all of them."""

    task: str = ""
    task_hash: str = ""
    shapes: tuple[str, ...] = ()
    backend: str = ""
    device_class: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """ratio: estimate, low and high of the paired gain, with a 95% interval over the kernels;
    None: no gain was measured. failures: of a trap without one, how many kernels failed so.

    shown_by, against: ids of kernels. standing: 0 to 1, how sure it is. fallen: why it fell, a
    sentence; empty while it stands. origin: the campaigns that found it; "": this one.
    """

    id: str
    kind: Kind
    rule: str
    about: About = About()
    condition: Condition = Condition()
    ratio: tuple[float, float, float] | None = None
    failures: int = 0
    shown_by: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    standing: float = 1.0
    fallen: str = ""
    by: By = "template"
    origin: str = ""

    @property
    def kernels(self) -> int:
        """How many its number is of."""
        return len(self.shown_by) + len(self.against)

    @property
    def worth(self) -> float:
        """ln of the gain that it promises or spares at least."""
        if self.ratio is not None:
            _, low, high = self.ratio
            return math.log(low) if self.kind == "win" else -math.log(high)
        return FAILURES_WORTH * self.failures


def identity(kind: Kind, about: About, rule: str, condition: Condition) -> str:
    """8 hex digits: the same rule of the same task and device class, campaign after campaign."""
    said = about.key or " ".join(rule.lower().split())
    best = about.recipe, sorted(about.params.items())
    where = condition.task, condition.device_class
    return hashlib.sha256(repr((kind, said, best, where)).encode()).hexdigest()[:8]


def best_founded(findings: Iterable[Finding]) -> list[Finding]:
    """Those that stand: a person's first, then by what they are worth and how sure they are."""
    standing = [one for one in findings if not one.fallen]
    return sorted(standing, key=lambda one: (one.by != "person", -one.worth * one.standing, one.id))


def number_text(one: Finding) -> str:
    """ "2.1x (1.9 to 2.3), shown by 3 kernels"; "" where there is none."""
    if one.ratio is not None:
        estimate, low, high = (f"{value:.3g}" for value in one.ratio)
        shown = f", shown by {_kernels(one.shown_by)}" if one.kernels else ""
        against = f", {len(one.against)} against it" if one.against else ""
        return f"{estimate}x ({low} to {high}){shown}{against}"
    return _kernels(one.shown_by) if one.shown_by else ""


def _kernels(ids: tuple[str, ...]) -> str:
    return "1 kernel" if len(ids) == 1 else f"{len(ids)} kernels"


def told(one: Finding, task_hash: str) -> str:
    """The rule as a prompt tells it, on one line. task_hash: of whoever is told."""
    rule = one.rule.strip().rstrip(".")
    number = number_text(one)
    named = [f"such as {', '.join(one.shown_by[:SHOWN])}"] if one.shown_by else []
    if one.condition.shapes:
        named.append(f"on {', '.join(one.condition.shapes)}")
    if one.by == "person":
        named.append("said by a person")
    if one.origin:
        named.append(f"found by {one.origin}, whose kernels are not here")
        if one.condition.task and one.condition.task_hash != task_hash:
            named.append("from other shapes")
    prefix = "trap: " if one.kind == "trap" else ""
    after = f" ({'; '.join(named)})" if named else ""
    return f"{prefix}{rule}{': ' + number if number else ''}{after}"


def lines(findings: Iterable[Finding], task_hash: str) -> tuple[str, ...]:
    """What prompts are told, the best founded first."""
    return tuple(told(one, task_hash) for one in best_founded(findings))
