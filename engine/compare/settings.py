"""What defines a campaign's search, as flat names and texts, and how configurations differ."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from engine.config import CampaignConfig
from engine.history.config_hash import NOT_THE_SEARCH
from engine.llm.config import Llm, LlmModel
from engine.tracking.parameters import flatten

MIXES = "operators"
"""A setting of its own: how many mixes of operators the islands take in turn."""

MOST_NAMED = 3
"""Differing keys that a name holds; the others are counted."""

_MODELS = "llm.models."


def search_settings(flat: Mapping[str, str]) -> dict[str, str]:
    """flat: a whole configuration, as flatten() gives it. Without names, places and what only says
    when a search ends, and without what is as by default, so that a key added later separates
    no campaigns."""
    kept = {key: value for key, value in flat.items() if _searches(key)}
    settings = {key: value for key, value in kept.items() if default_of(key) != value}
    mixes = {key.split(".")[1] for key in flat if re.match(r"operators\.\d+\.", key)}
    if len(mixes) > 1:
        settings[MIXES] = f"{len(mixes)} mixes"
    return settings


def default_of(key: str) -> str | None:
    """None for a key that has none."""
    if key == MIXES:
        return "1 mix"
    if key.startswith(_MODELS):
        return _model_defaults().get(key.rpartition(".")[2])
    return _defaults().get(re.sub(r"^operators\.\d+\.", "operators.", key))


def differing(arms: Sequence[Mapping[str, str]]) -> list[str]:
    """The keys in which they are not all alike, sorted."""
    keys = {key for settings in arms for key in settings}
    return sorted(key for key in keys if len({settings.get(key) for settings in arms}) > 1)


def arm_name(settings: Mapping[str, str], keys: Sequence[str]) -> str:
    """As MLflow names parameters: "operators.kind=random"."""
    named = [f"{key}={settings.get(key, default_of(key) or 'none')}" for key in keys[:MOST_NAMED]]
    if len(keys) > MOST_NAMED:
        named.append(f"and {len(keys) - MOST_NAMED} more")
    return ", ".join(named)


def _searches(key: str) -> bool:
    section, _, rest = key.partition(".")
    if section in NOT_THE_SEARCH[""]:
        return False
    if key.startswith(_MODELS):
        return rest.rpartition(".")[2] not in NOT_THE_SEARCH["llm.models.*"]
    return rest.partition(".")[0] not in NOT_THE_SEARCH.get(section, frozenset())


@cache
def _defaults() -> dict[str, str]:
    values = CampaignConfig(task="any").model_dump(mode="json")
    llm = Llm(models={"any": LlmModel(model="any")}).model_dump(mode="json")
    del llm["models"]
    return dict(flatten({**values, "llm": llm})) | {"llm": "none"}


@cache
def _model_defaults() -> dict[str, str]:
    values = LlmModel(model="any").model_dump(mode="json")
    del values["model"]  # it has none
    return dict(flatten(values))
