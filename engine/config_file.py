"""A configuration as a person gives it: a YAML file, and overrides of single keys."""

import copy
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError, first_problem
from evaluators.lined_yaml import YamlError, load
from evaluators.spelling import shortened
from evaluators.text_file import read_text


def load_config(path: Path, overrides: Sequence[str] = ()) -> CampaignConfig:
    """Read a YAML file and apply "a.b=value" overrides (values in YAML). Raises ConfigError."""
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"{path}: the configuration can't be read: {reason}") from error
    try:
        values = load(text)
    except YamlError as error:
        raise ConfigError(f"{path}, line {error.line}: {error.reason}") from error
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: a configuration is a mapping of keys to values")
    steps = {str(path): copy.deepcopy(values)}
    for override in overrides:
        _override(values, override)
        steps[repr(shortened(override, 100))] = copy.deepcopy(values)
    return parse_config(values, where=_to_blame(steps))


def _to_blame(steps: Mapping[str, dict[str, Any]]) -> str:
    """The file or the override that brought in what is wrong in the end.

    steps: the values after each, by its name.
    """
    told = {name: _wrong(values) for name, values in steps.items()}
    *_, last = told.values()
    names = list(told)
    while len(names) > 1 and told[names[-2]] == last:
        names.pop()
    return names[-1]


def _wrong(values: dict[str, Any]) -> str:
    """The first problem in one sentence; empty when there is none."""
    try:
        CampaignConfig.model_validate(values)
    except ValidationError as error:
        return first_problem(error, CampaignConfig)
    return ""


def _override(values: dict[str, Any], override: str) -> None:
    dotted, equals, text = override.partition("=")
    shown = shortened(override, 100)
    keys = dotted.split(".")
    if not equals or not all(re.fullmatch(r"\w+", key) for key in keys):
        raise ConfigError(
            f"{shown!r} is no override; write key=value, as in budgets.evaluations=50"
        )
    try:
        value = load(text)
    except YamlError as error:
        raise ConfigError(f"{shown!r}: {error.reason}; quote the value") from error
    place: Any = values
    for key in keys[:-1]:
        if isinstance(place, list):
            place = _element(place, key, shown)
        else:
            place = place.setdefault(key, [{}] if key == "operators" else {})
        if not isinstance(place, dict | list):
            raise ConfigError(f"{shown!r}: {key} holds a plain value, nothing to set inside it")
    if isinstance(place, list):
        _element(place, keys[-1], shown)
        place[int(keys[-1])] = value
    else:
        place[keys[-1]] = value


def _element(place: list[Any], key: str, override: str) -> Any:
    if not key.isdecimal() or int(key) >= len(place):
        raise ConfigError(f"{override!r}: {key} is not one of the list's {len(place)} positions")
    return place[int(key)]
