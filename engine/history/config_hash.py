"""What two campaigns have in common that search in the same way: a hash of the configuration."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from engine.config import parse_config

BYTES = 6

NOT_THE_SEARCH: Mapping[str, frozenset[str]] = {
    "": frozenset(
        {"task", "name", "seed", "runs_dir", "tracking", "snapshots", "ray", "final", "stop"}
    ),
    # These and stop say when a search ends, not how it goes; tuning stays.
    "budgets": frozenset({"evaluations", "wall_time_s", "calls", "tokens", "dollars"}),
    "devices": frozenset({"ids", "compile_workers", "patience_s"}),
    "llm": frozenset(
        {
            "base_url",
            "api_key_env",
            "concurrency",
            "timeout_s",
            "retries",
            "outage_s",
            "keep_prompts",
        }
    ),
    "llm.models.*": frozenset({"base_url", "api_key_env", "stream"}),
}
"""By section, what may differ between campaigns of one hash: names, places, how many at once."""


def config_hash(config: Mapping[str, Any], task_hash: str = "") -> str:
    """12 hex digits over what defines the search: the keys that differ from their defaults, so
    that a key added later changes no hash, and the task by its content.

    config: as a campaign's store keeps it. Raises ConfigError.
    """
    parsed = parse_config(dict(config), where="a stored configuration")
    values = parsed.model_dump(mode="json", exclude_defaults=True)
    task = task_hash or parsed.task
    text = json.dumps([task, _searching(values)], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=BYTES).hexdigest()


def _searching(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without NOT_THE_SEARCH, and without sections that are empty then."""
    kept = _without(values, "")
    for name in ("budgets", "devices", "llm"):
        if name in kept:
            kept[name] = _without(kept[name], name)
    if models := kept.get("llm", {}).get("models"):
        # In their order: roles without a model of their own ask the first.
        kept["llm"]["models"] = [
            [name, _without(model, "llm.models.*")] for name, model in models.items()
        ]
    return {key: value for key, value in kept.items() if value not in ({}, [])}


def _without(values: Mapping[str, Any], section: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in NOT_THE_SEARCH[section]}
