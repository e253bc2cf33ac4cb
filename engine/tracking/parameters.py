"""A campaign's parameters in MLflow: what a person compares, in a form that sorts as numbers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.config import CampaignConfig

LEFT_OUT = frozenset(
    {
        "name",
        "runs_dir",
        "budgets",
        "stop",
        "tracking",
        "snapshots",
        "ray",
        "task",
        "llm",
    }
)
"""Of the configuration: what names a campaign or a machine, what a resumption changes, and what
is told in another way."""

OF_ENDPOINTS = frozenset({"base_url", "api_key_env", "keep_prompts"})


def parameters(config: CampaignConfig) -> dict[str, str]:
    """By flat names, such as "islands.count" -> "2" and "operators.kind" -> "catalog"."""
    values = config.model_dump(mode="json")
    told: dict[str, Any] = {"task": task_name(config)}
    told |= {key: value for key, value in values.items() if key not in LEFT_OUT}
    if values["llm"] is not None:
        told["llm"] = _without_endpoints(values["llm"])
    return dict(flatten(told))


def budgets(values: Mapping[str, Any]) -> dict[str, str]:
    return dict(flatten(values, "budgets."))


def endings(values: Mapping[str, Any]) -> dict[str, str]:
    """Of the section stop."""
    return dict(flatten(values, "stop."))


def task_name(config: CampaignConfig) -> str:
    return Path(config.task).name


def canonical(value: Any) -> str:
    """true, false, none, 30 in place of 30.0; lists of such with commas between."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, list | tuple):
        return ",".join(map(canonical, value)) or "none"
    return str(value)


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested mappings, one below the other; a list of one mapping is as good as the mapping."""
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flatten(value, f"{name}.")
        elif _holds_mappings(value):
            for number, one in enumerate(value):
                yield from flatten(one, f"{name}." if len(value) == 1 else f"{name}.{number}.")
        else:
            yield name, canonical(value)


def _holds_mappings(value: Any) -> bool:
    return (
        isinstance(value, Sequence) and bool(value) and all(isinstance(x, Mapping) for x in value)
    )


def _without_endpoints(llm: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in llm.items() if key not in OF_ENDPOINTS}
    kept["models"] = {
        name: {key: value for key, value in model.items() if key not in OF_ENDPOINTS}
        for name, model in llm["models"].items()
    }
    return kept
