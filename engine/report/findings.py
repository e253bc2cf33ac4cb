"""What a campaign found as rules: the latest distillation, as the report shows it."""

from dataclasses import dataclass
from pathlib import Path

from engine.store.kinds.findings import Distilled
from engine.store.replay import Replay
from engine.store.run_folder import FINDINGS
from operators.finding import Finding, best_founded

MOST_RULES = 40
MOST_KERNELS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row. number: as text; kernels: the first that show it; more: how many others do; about:
    where it is from and what else is to be said."""

    kind: str
    rule: str
    number: str
    kernels: tuple[str, ...]
    more: int
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingsTold:
    """rules: the best founded first; all_rules: of how many; fallen: sentences, the latest first;
    refused: why what was to be brought along is not used."""

    rules: tuple[Rule, ...] = ()
    all_rules: int = 0
    evaluations: int = 0
    model: str = ""
    fallen: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    has_file: bool = False


def findings_told(whole: Replay, run_dir: Path) -> FindingsTold:
    last: Distilled | None = whole.distilled[-1] if whole.distilled else None
    if last is None:
        return FindingsTold()
    standing = best_founded(last.findings)
    fallen = [one for one in last.findings if one.fallen]
    return FindingsTold(
        rules=tuple(map(_rule, standing[:MOST_RULES])),
        all_rules=len(standing),
        evaluations=last.evaluations,
        model=last.model,
        fallen=tuple(f"{one.rule}: {one.fallen}" for one in reversed(fallen[-MOST_RULES:])),
        refused=whole.brought.refused if whole.brought else (),
        has_file=(run_dir / FINDINGS).is_file(),
    )


def _rule(one: Finding) -> Rule:
    return Rule(
        kind=one.kind,
        rule=one.rule,
        number=_number(one),
        kernels=one.shown_by[:MOST_KERNELS],
        more=max(0, len(one.shown_by) - MOST_KERNELS),
        about=_about(one),
    )


def _number(one: Finding) -> str:
    if one.ratio is not None:
        estimate, low, high = one.ratio
        return f"{estimate:.2f}× ({low:.2f} to {high:.2f})"
    return f"{one.failures} failed" if one.failures else ""


def _about(one: Finding) -> str:
    said = {"template": "", "model": "a model's words", "person": "a person's words"}[one.by]
    from_elsewhere = f"from {one.origin}" if one.origin else ""
    against = f"{len(one.against)} against it" if one.against else ""
    shapes = f"on {', '.join(one.condition.shapes)}" if one.condition.shapes else ""
    return ", ".join(filter(None, (shapes, against, said, from_elsewhere)))
