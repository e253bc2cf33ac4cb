"""Findings of several campaigns as one: evidence on the same rule combined, contradictions told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.findings.evidence import Evidence, united
from engine.findings.reader import FindingsFile
from operators.finding import Finding, best_founded, number_text

Heard = tuple[str, Finding]
"""A campaign's name, and a finding of its."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """findings: the best founded first; contradictions: a sentence each."""

    campaigns: tuple[str, ...]
    findings: tuple[Finding, ...]
    contradictions: tuple[str, ...] = ()


def merged(files: Sequence[FindingsFile]) -> Merged:
    """Rules of the same task, shapes and class of device are one rule; others stay apart."""
    groups: dict[tuple[str, ...], list[Heard]] = {}
    for file in files:
        for one in file.findings:
            groups.setdefault(_what(one), []).append((one.origin or file.campaign, one))
    findings: list[Finding] = []
    contradictions: list[str] = []
    for heard in map(_once, groups.values()):
        standing = [pair for pair in heard if not pair[1].fallen]
        if not standing:
            continue
        found = _one(standing)
        kept = found is not None
        if found is not None:
            findings.append(found)
        if sentence := _contradiction(heard, kept=kept):
            contradictions.append(sentence)
    return Merged(
        campaigns=tuple(dict.fromkeys(file.campaign for file in files)),
        findings=tuple(best_founded(findings)),
        contradictions=tuple(contradictions),
    )


def _once(heard: Sequence[Heard]) -> list[Heard]:
    """Without evidence that another one of them holds already: a campaign's, in the file of one
    that began with it."""
    kept: list[Heard] = []
    for pair in sorted(heard, key=lambda pair: -pair[1].kernels):
        if not any(_within(pair, other) for other in kept):
            kept.append(pair)
    return [pair for pair in heard if any(pair is one for one in kept)]


def _within(pair: Heard, larger: Heard) -> bool:
    (names, one), (others, other) = pair, larger
    alike = (one.kind, bool(one.fallen)) == (other.kind, bool(other.fallen))
    said = one.by == "person" and other.by != "person"
    inside = {*one.shown_by, *one.against} <= {*other.shown_by, *other.against}
    return alike and not said and inside and set(names.split(", ")) <= set(others.split(", "))


def _what(one: Finding) -> tuple[str, ...]:
    where = one.condition
    said = one.about.key or " ".join(one.rule.lower().split())
    return said, where.task, where.task_hash, where.device_class


def _one(heard: Sequence[Heard]) -> Finding | None:
    """The rule that all together amount to; None: together they show nothing."""
    names = ", ".join(dict.fromkeys(name for name, _ in heard))
    findings = [one for _, one in heard]
    if len(findings) == 1:
        return replace(findings[0], origin=names)
    best = max(findings, key=lambda one: (one.by == "person", one.worth * one.standing))
    shown = _ids(one.shown_by for one in findings if one.kind == best.kind)
    against = _ids(one.against if one.kind == best.kind else one.shown_by for one in findings)
    if best.about.moves:
        return replace(best, origin=names)  # another campaign's best is another
    numbered = [one for one in findings if one.ratio is not None]
    if not numbered:
        failures = sum(one.failures for one in findings if one.kind == best.kind)
        return replace(best, origin=names, shown_by=shown, against=against, failures=failures)
    evidence = united([Evidence.of_ratio(one.ratio, one.kernels) for one in numbered if one.ratio])
    kind = "win" if evidence.ln_ratio > 0 else "trap"
    if len(numbered) > 1 and not evidence.shows():
        return None
    side = next((one for one in numbered if one.kind == kind), best)
    return replace(
        side,
        origin=names,
        ratio=evidence.ratio,
        shown_by=_ids(one.shown_by if one.kind == kind else one.against for one in findings),
        against=_ids(one.against if one.kind == kind else one.shown_by for one in findings),
        standing=round(evidence.standing, 3),
    )


def _ids(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for ids in groups for one in ids))


def _contradiction(heard: Sequence[Heard], *, kept: bool) -> str:
    """ "TM 4 -> 8 is a win in one (1.3x ...) and a trap in two (0.8x ...)"; "" where there is none.

    kept: whether all together still show something.
    """
    said = {
        "a win": [pair for pair in heard if pair[1].kind == "win" and not pair[1].fallen],
        "a trap": [pair for pair in heard if pair[1].kind == "trap" and not pair[1].fallen],
    }
    sides = [f"is {what} {_told(pairs)}" for what, pairs in said.items() if pairs]
    # That a win fell where it is a trap now is the same said twice.
    fell = [pair for pair in heard if pair[1].fallen]
    if len(sides) < 2 and not fell:
        return ""
    if len(sides) < 2:
        standing = {name for name, one in heard if not one.fallen}
        fell = [pair for pair in fell if pair[0] not in standing]
        if not fell:
            return ""
        sides += [f"in {name} it {one.fallen}" for name, one in fell]
    what = heard[0][1].rule.rstrip(".")
    end = "" if kept else "; together they show neither"
    return f"{what}: it {' and '.join(sides)}{end}"


def _told(pairs: Sequence[Heard]) -> str:
    numbers = [(name, number_text(one)) for name, one in pairs]
    return ", ".join(f"in {name}{f' ({number})' * bool(number)}" for name, number in numbers)
