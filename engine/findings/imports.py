"""Findings brought along from other campaigns: whose they are, and which may be used here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.findings.reader import FindingsFile
from engine.findings.sources import findings_of
from operators.finding import Condition, Finding

NOT_USED = "not used"


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """findings: those that may be used; refused: why others are not, a sentence each."""

    findings: tuple[Finding, ...] = ()
    refused: tuple[str, ...] = ()


def bring(sources: Sequence[Path], here: Condition) -> Brought:
    """here: of the campaign that begins. Raises FindingsError: a file that can't be read."""
    found: dict[str, Finding] = {}
    refused: list[str] = []
    for source in sources:
        brought = fitting(findings_of(source), str(source), here)
        refused += brought.refused
        for one in sorted(brought.findings, key=lambda one: _other_shapes(one, here)):
            known = found.get(one.id)
            if known is None or _other_shapes(known, here) > _other_shapes(one, here):
                found[one.id] = one
    return Brought(findings=tuple(found.values()), refused=tuple(refused))


def _other_shapes(one: Finding, here: Condition) -> bool:
    return one.condition.task_hash != here.task_hash


def fitting(told: FindingsFile, source: str, here: Condition) -> Brought:
    """Those of a file for the same class of device, and for the same task or none."""
    used: list[Finding] = []
    why: dict[str, int] = {}
    name = told.campaign or Path(source).stem
    for one in told.findings:
        if one.fallen:
            continue
        against = _against(one.condition, here)
        if against:
            why[against] = why.get(against, 0) + 1
        else:
            origin = one.origin or name
            by = "template" if one.by == "person" and one.about.key else one.by
            used.append(replace(one, origin=origin, by=by))
    refused = [f"{_of(count, source)} {reason}: {NOT_USED}" for reason, count in why.items()]
    if not told.findings:
        refused.append(f"{source} holds no findings")
    return Brought(findings=tuple(used), refused=tuple(refused))


def _of(count: int, source: str) -> str:
    return f"{count} finding{'s' * (count > 1)} of {source} {'are' if count > 1 else 'is'}"


def _against(found: Condition, here: Condition) -> str:
    """Why a rule that was found there does not hold here; "" where it may."""
    if found.device_class != here.device_class:
        if not found.device_class:
            return (
                f"for no device (write 'condition: {{device_class: {here.device_class}}}' at the "
                "file's head where they hold here)"
            )
        whose = f"for device class {found.device_class}"
        return f"{whose}, and this campaign measures on {here.device_class}"
    if found.task and found.task != here.task:
        return f"for the task {found.task}, and this campaign's is {here.task}"
    return ""
