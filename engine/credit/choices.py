"""Choices: between which arms an island's credit decides, and the weights they begin with."""

from collections.abc import Mapping

from engine.config import CampaignConfig
from operators.llm.designer import DIRECTIONS
from operators.llm.question import Role

OPERATOR, AVENUE, LINE = "operator", "avenue", "line"
"""Of a cycle; where its designer is told to look first; the line of descent that its Base is of.
Other choices are of models, by role."""

WRITING: tuple[Role, ...] = ("writer", "crossover", "repair")
"""They share what is known of a model, where the same models are named for them."""

WHOLE_CYCLE = frozenset({OPERATOR, AVENUE, "selector", "designer"})
"""Choices that bear on all kernels of a cycle; the others on those that the role wrote."""

AS_DEALT = "as dealt"
"""The arm of AVENUE on which a designer is told what it is told without credit."""
DEALT_WEIGHT = float(len(DIRECTIONS))
"""Of that arm, beside 1 for each direction."""

_ASKED_BY: Mapping[str, frozenset[str]] = {
    "experiment": frozenset({"selector", "designer", "writer", "repair"}),
    "crossover": frozenset({"crossover", "repair"}),
    "mutation": frozenset({"repair"}),
}


def roles_asked(operator: str) -> frozenset[str]:
    """By a cycle of that operator."""
    return _ASKED_BY.get(operator, frozenset())


def roles_of(choice: str) -> tuple[str, ...]:
    """For whom a choice among models decides: "writer and crossover" -> its two roles."""
    return tuple(choice.split(" and "))


def writes(choice: str) -> bool:
    """Whether it is drawn for each kernel, not for a whole cycle."""
    return roles_of(choice)[0] in WRITING


def choices_of(config: CampaignConfig, island: int) -> Mapping[str, Mapping[str, float]]:
    """Choice -> arm -> weight, where there are several arms; none where credit is off."""
    mix = config.operators_of(island)
    if not config.credit.on or mix.kind == "random":
        return {}
    found: dict[str, Mapping[str, float]] = {OPERATOR: mix.weights}
    if mix.kind == "llm":
        found[AVENUE] = {AS_DEALT: DEALT_WEIGHT, **dict.fromkeys(DIRECTIONS, 1.0)}
        found |= _models(config, island)
    return {
        choice: arms
        for choice, arms in found.items()
        if sum(weight > 0 for weight in arms.values()) > 1
    }


def models_drawn(config: CampaignConfig, island: int) -> Mapping[str, tuple[str, ...]]:
    """Role -> the names in llm.models that are drawn from, where there are several."""
    return {
        role: tuple(arms)
        for choice, arms in choices_of(config, island).items()
        if choice not in (OPERATOR, AVENUE)
        for role in roles_of(choice)
    }


def _models(config: CampaignConfig, island: int) -> Mapping[str, Mapping[str, float]]:
    """Of roles that may ask several, those that write together."""
    mix, llm = config.operators_of(island), config.llm
    named: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for role, names in (llm.roles if llm else {}).items():
        if isinstance(names, tuple) and role not in mix.models:
            together = "writes" if role in WRITING else role
            named.setdefault((names, together), []).append(role)
    return {" and ".join(roles): dict.fromkeys(names, 1.0) for (names, _), roles in named.items()}
