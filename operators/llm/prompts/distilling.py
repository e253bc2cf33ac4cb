"""The Distiller's prompt: the record with measured gains, and the rules that stand."""

from collections.abc import Mapping, Sequence

from operators.finding import Finding, number_text
from operators.individual import Individual
from operators.llm.prompts.render import Scene
from operators.llm.prompts.steps import base_of, one_line, outcome, what
from operators.llm.question import Prompt

MOST_RULES = 8
RULES_SHARE = 0.3
"""Of the room, for the rules that stand."""


def distiller_prompt(
    scene: Scene, known: Mapping[str, Individual], findings: Sequence[Finding]
) -> Prompt:
    """known: oldest first; findings: the best founded first."""
    page = scene.page("distiller", most=MOST_RULES)
    rules = [f"{one.id}: {_rule(one)}" for one in findings]
    shown, unsaid = page.room.first_lines(rules, RULES_SHARE)
    tried, dropped = page.room.lines(_record(scene, known), page.room.characters)
    return page.prompt(tried=tried, dropped=dropped, rules=shown, unsaid=unsaid, most=MOST_RULES)


def _rule(one: Finding) -> str:
    number = number_text(one)
    return f"{one.kind}: {one_line(one.rule)}" + (f": {number}" if number else "")


def _record(scene: Scene, known: Mapping[str, Individual]) -> list[str]:
    made = []
    for one in known.values():
        base = base_of(one, known)
        came = outcome(one, known, scene.spread)
        if came:
            on = f" [on {base.id}]" if base else ""
            made.append(f"{one.id}: {what(one, known)}{on}: {came}")
    return made
