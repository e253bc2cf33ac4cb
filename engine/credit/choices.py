"""Choices: between which arms an island's credit decides, and the weights they begin with."""

from collections.abc import Mapping
from typing import get_args

from engine.config import CampaignConfig
from operators.llm.designer import DIRECTIONS
from operators.llm.question import Role

OPERATOR, AVENUE, LINE = "operator", "avenue", "line"
"""Of a cycle; where its designer is told to look first, or a catalogue's technique; the first
kernel below the naive seed that its Base descends from. Other choices are roles, of models."""

AS_DEALT = "as dealt"
"""The arm of AVENUE on which a designer is told what it is told without credit."""
DEALT_WEIGHT = float(len(DIRECTIONS))
"""Of that arm, beside 1 for each direction."""

ROLES_OF: Mapping[str, tuple[Role, ...]] = {
    "experiment": ("selector", "designer", "writer", "repair"),
    "crossover": ("crossover", "repair"),
}
"""Operator of a cycle -> the roles that it may ask. A mutation is repaired too."""


def roles_of(operator: str) -> tuple[Role, ...]:
    return ROLES_OF.get(operator, ("repair",))


def choices_of(config: CampaignConfig, island: int) -> Mapping[str, Mapping[str, float]]:
    """Choice -> arm -> weight, where there are several arms; none where credit is off.

    Arms of LINE, and of AVENUE on islands without a model, are what turns up.
    """
    mix = config.operators_of(island)
    if not config.credit.on or mix.kind == "random":
        return {}
    found: dict[str, Mapping[str, float]] = {OPERATOR: mix.weights}
    if mix.kind == "llm" and config.llm is not None:
        found[AVENUE] = {AS_DEALT: DEALT_WEIGHT, **dict.fromkeys(DIRECTIONS, 1.0)}
        for role in get_args(Role):
            names = config.llm.roles.get(role, ())
            if not isinstance(names, str) and role not in mix.models:
                found[role] = dict.fromkeys(names, 1.0)
    return {
        choice: arms
        for choice, arms in found.items()
        if sum(weight > 0 for weight in arms.values()) > 1
    }
