"""What was asked for and can't be done."""

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from evaluators.lined_yaml import YamlError, load
from evaluators.spelling import shortened

Command = Callable[[Namespace], int]
"""Takes the parsed arguments, returns the exit code."""

OK, FAILED, INTERRUPTED = 0, 1, 130
"""Exit codes; the last one: Ctrl-C."""


class UsageError(Exception):
    """What was asked for can't be done. One sentence: what, where, what to do."""


RESUMED = ("budgets", "stop", "ray", "snapshots")
"""Sections that a resumption may change."""

MODELS = ("llm.base_url", "llm.api_key_env")
"""Of another section the keys that it may change."""


def budget_change(text: str) -> tuple[str, str, Any]:
    """The section (budgets, unless another one is named), its key, and the new value. Raises
    UsageError."""
    from engine.config import CampaignConfig

    key, equals, value = text.partition("=")
    section = key.partition(".")[0]
    named = section in (*RESUMED, *(("llm",) if key in MODELS else ()))
    if equals and not named and section in CampaignConfig.model_fields:
        raise UsageError(
            f"{key}: resume changes budgets, stop, ray, snapshots, {' and '.join(MODELS)} alone, "
            f"as in evaluations=2000 or stop.speedup=30; for another {section} start a new campaign"
        )
    if not equals:
        raise UsageError(f"{text!r} changes nothing; write key=value, as in evaluations=2000")
    try:
        if not named:
            section = "budgets"
        return section, key.removeprefix(f"{section}."), load(value)
    except YamlError:
        shown = shortened(text, 100)
        raise UsageError(f"{shown!r}: what follows = is not a number; write one") from None
