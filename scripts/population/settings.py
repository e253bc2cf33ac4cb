"""Settings of a trial: values that Optuna suggests, as keys of a campaign's configuration."""

import copy
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from scripts.population.parts import require_a_part
from scripts.population.plan import Interval, Plan, Value

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Values = Mapping[str, Value]
"""By dotted key."""


def distributions(plan: Plan) -> "dict[str, BaseDistribution]":
    """Optuna's, by dotted key."""
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    found: dict[str, BaseDistribution] = {}
    for key, one in plan.search.items():
        if not isinstance(one, Interval):
            found[key] = CategoricalDistribution(one)
        elif one.whole:
            low, high, step = int(one.low), int(one.high), int(one.step or 1)
            high -= (high - low) % step
            found[key] = IntDistribution(low, high, log=one.log, step=step)
        else:
            last = one.high
            if one.step is not None:
                last = one.low + one.step * math.floor((one.high - one.low) / one.step + 1e-9)
            found[key] = FloatDistribution(one.low, last, log=one.log, step=one.step)
    return found


def settings_of(plan: Plan, values: Values) -> dict[str, Any]:
    """What all trials have, and these values."""
    found = copy.deepcopy(plan.campaign)
    for key, value in values.items():
        section, _, rest = key.partition(".")
        if section == "operators" and rest:
            for mix in found.setdefault("operators", [{}]):
                _put(mix, rest, value)
        else:
            _put(found, key, value)
    return found


def _put(settings: dict[str, Any], key: str, value: Value) -> None:
    *path, last = key.split(".")
    place = settings
    for name in path:
        if not isinstance(place.setdefault(name, {}), dict):
            raise ConfigError(
                f"search.{key}: campaign sets {name} to {place[name]!r}; write its keys there, or "
                "leave it out"
            )
        place = place[name]
    place[last] = value


def default_values(plan: Plan) -> dict[str, Value]:
    """What the default has at the keys that are searched, as far as the search may choose it."""
    config = campaign_of(plan, {}, evaluations=plan.evaluations)
    islands = config.islands.fitted(1).with_lanes(1)  # as tables have one device
    size = islands.tournament_of(config.operators[0].kind)
    islands = islands.model_copy(update={"tournament": size})
    config = config.model_copy(update={"islands": islands})
    found: dict[str, Value] = {}
    for key, one in plan.search.items():
        value = _default(config, key)
        if isinstance(one, Interval):
            if one.holds(value):
                found[key] = int(value) if one.whole else float(value)  # as Optuna has them
        elif value in one:
            found[key] = value
    return found


def _default(config: CampaignConfig, key: str) -> Any:
    section, _, rest = key.partition(".")
    if section == "operators":
        mix = config.operators[0]
        return mix.weights[rest] if rest in mix.weights else _at(mix, rest)
    role = key.removeprefix("llm.roles.")
    if role != key and config.llm is not None and role not in config.llm.roles:
        return next(iter(config.llm.models))
    return _at(config, key)


def _at(place: Any, key: str) -> Any:
    for name in key.split("."):
        place = place.get(name) if isinstance(place, Mapping) else getattr(place, name, None)
    return place


def campaign_of(plan: Plan, values: Values, *, evaluations: int, **more: Any) -> CampaignConfig:
    """As a campaign of the engine's would be configured. Raises ConfigError."""
    settings = settings_of(plan, values)
    budgets = settings.get("budgets", {})
    if isinstance(budgets, dict):  # what else it may be, parse_config tells
        budgets = {**budgets, "evaluations": evaluations}
    task = (*plan.seen.tasks, "table")[0]
    named = {"task": task, "tracking": "none", **settings, "budgets": budgets, **more}
    return parse_config(named, where="a trial's campaign")


def require_settings(plan: Plan) -> None:
    """Every key by itself at every choice, or at both ends. Raises ConfigError."""
    default = campaign_of(plan, {}, evaluations=plan.evaluations)
    for key in plan.search:
        if _is_set(plan.campaign, key):
            raise ConfigError(
                f"campaign sets {key}, which search varies: leave it out of one of them"
            )
    for key, one in plan.search.items():
        ends = (one.low, one.high) if isinstance(one, Interval) else one
        whole = isinstance(one, Interval) and one.whole
        for value in ends:
            chosen = int(value) if whole and isinstance(value, float) else value
            try:
                campaign_of(plan, {key: chosen}, evaluations=plan.evaluations)
            except ConfigError as error:
                raise ConfigError(f"search.{key}: {chosen!r} can't be used: {error}") from None
    require_a_part(plan, default)


def _is_set(settings: Mapping[str, Any], key: str) -> bool:
    section, _, rest = key.partition(".")
    if section == "operators":
        return any(_is_set(mix, rest) for mix in settings.get("operators", ()))
    place: Any = settings
    for name in key.split("."):
        if not isinstance(place, Mapping) or name not in place:
            return False
        place = place[name]
    return True
