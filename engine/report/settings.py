"""The configuration as YAML, without what is this machine's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import ValidationError

from engine.config import CampaignConfig
from engine.report.texts import travelling
from engine.store.replay import Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """changed: what differs from the defaults; "" where an earlier version's keys are not known
    any more. whole: every key. Both as YAML."""

    changed: str
    whole: str


def settings_of(replay: Replay) -> Settings:
    """With the last session's budgets, and what ended it before them."""
    changed = {"budgets": dict(replay.budgets), "stop": dict(replay.stop)}
    values = {**replay.campaign.config, **changed}
    return Settings(changed=_changed(values), whole=_yaml(values))


def _changed(values: Mapping[str, Any]) -> str:
    try:
        config = CampaignConfig.model_validate(dict(values))
    except ValidationError:
        return ""
    return _yaml(config.model_dump(mode="json", exclude_defaults=True))


def _yaml(values: Mapping[str, Any]) -> str:
    return yaml.safe_dump(_travelling(values), sort_keys=False, allow_unicode=True, width=100)


def _travelling(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _travelling(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_travelling(one) for one in value]
    return travelling(value) if isinstance(value, str) else value
