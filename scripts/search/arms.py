"""Arms: configurations of campaigns that are searched with, side by side."""

from argparse import ArgumentTypeError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from evaluators.lined_yaml import YamlError, load, plain
from evaluators.spelling import did_you_mean
from scripts.search.kernel_tuner import STRATEGIES
from scripts.search.outputs import reason_of
from scripts.search.plot import EXPECTED
from scripts.search.simulation import Settings

PLAYED = ("credit", "islands", "migration", "operators")
"""Sections that play a part on tables."""

ARMS: Mapping[str, Settings] = {
    "campaign": {},
    "tuner": {
        "islands": {"count": 1},
        "operators": [{"experiment": 0, "crossover": 0, "mutation": 0, "tuning": 1}],
    },
    "catalogue": {"operators": [{"tuning": 0}]},
    "random": {"operators": [{"kind": "random"}]},
}
"""campaign: as it is configured by default; tuner: nothing but tuning; catalogue: without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """ignored: keys of its file that play no part on tables."""

    name: str
    settings: Settings
    file: str = ""
    ignored: Sequence[str] = ()


def arm_of(text: str) -> Arm:
    """NAME, or NAME=FILE. Raises ArgumentTypeError."""
    name, equals, file = text.partition("=")
    if not equals:
        if name not in ARMS:
            raise ArgumentTypeError(
                f"{name!r} is none of {', '.join(ARMS)}{did_you_mean(name, ARMS)}; write NAME=FILE "
                "for a configuration"
            )
        return Arm(name=name, settings=ARMS[name])
    if not name.strip() or not file:
        raise ArgumentTypeError(f"write NAME=FILE and not {text!r}")
    if name in (*STRATEGIES, EXPECTED):
        raise ArgumentTypeError(f"{name!r} is told of beside the arms: choose another name")
    try:
        return _of_file(name, file)
    except ConfigError as error:
        raise ArgumentTypeError(str(error)) from None


def settings_by_name(arms: Sequence[Arm]) -> dict[str, Settings]:
    """Raises ConfigError where two have one name."""
    found: dict[str, Settings] = {}
    for one in arms:
        if one.name in found:
            raise ConfigError(f"--arm {one.name} is there twice: give one another name")
        found[one.name] = one.settings
    return found


def _of_file(name: str, file: str) -> Arm:
    """Raises ConfigError."""
    values = _read(file)
    named = {"task": "table", **values}
    config = parse_config(named, where=file)
    if any(mix.kind == "llm" for mix in config.operators):
        raise ConfigError(f"{file}: operators of kind llm ask models, which have no part on tables")
    settings = {key: values[key] for key in PLAYED if key in values}
    parse_config({"task": "table", **settings}, where=f"{file}, on tables")
    ignored = [key for key in values if key in CampaignConfig.model_fields and key not in PLAYED]
    return Arm(name=name, settings=settings, file=file, ignored=ignored)


def _read(file: str) -> dict[str, Any]:
    """Raises ConfigError."""
    try:
        values = plain(load(Path(file).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} can't be read: {reason_of(error)}") from None
    except YamlError as error:
        raise ConfigError(f"{file}, line {error.line}: {error.reason}") from None
    if not isinstance(values, dict | None):
        raise ConfigError(f"{file}: a configuration is a mapping of keys to values")
    return values or {}
