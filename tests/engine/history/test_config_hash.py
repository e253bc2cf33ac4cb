"""Which campaigns count as ones of the same configuration."""

from collections.abc import Mapping
from typing import Any

import pytest

from engine.config import parse_config
from engine.history.config_hash import config_hash

MODELS = {"main": {"model": "large"}, "other": {"model": "small"}}
LLM = {"task": "sgemm", "operators": [{"kind": "llm"}], "llm": {"models": MODELS}}


def stored(values: Mapping[str, Any]) -> dict[str, Any]:
    """As a campaign keeps it: with every default."""
    return parse_config(dict(values), where="test").model_dump(mode="json")


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "b", "seed": 3, "runs_dir": "/elsewhere"},
        {"tracking": "none", "snapshots": {"every_s": 5}, "ray": {"address": "auto"}},
        {"budgets": {"evaluations": 800, "wall_time_s": 60}, "final": {"seconds": 5}},
        {"devices": {"ids": [1, 2], "compile_workers": 3}},
        {"llm": {"models": MODELS, "base_url": "http://else:1/v1", "concurrency": 4}},
        {
            "llm": {
                "models": {**MODELS, "other": {"model": "small", "api_key_env": "OTHER_KEY"}},
                "api_key_env": "KEY",
            }
        },
    ],
)
def test_places_names_and_seeds_leave_it(changes: Mapping[str, Any]) -> None:
    assert config_hash(stored({**LLM, **changes}), "t") == config_hash(stored(LLM), "t")


@pytest.mark.parametrize(
    "changes",
    [
        {"backend": "cuda"},
        {"islands": {"count": 3}},
        {"islands": {"cycles_in_flight": 1}},
        {"budgets": {"tuning": 0}},
        {"operators": [{"kind": "llm", "crossover": 0}]},
        {"operators": [{"kind": "llm"}, {"kind": "catalog"}]},
        {"llm": {"models": {"main": {"model": "larger"}, "other": {"model": "small"}}}},
        {"llm": {"models": dict(reversed(MODELS.items()))}},
    ],
)
def test_what_changes_the_search_changes_it(changes: Mapping[str, Any]) -> None:
    assert config_hash(stored({**LLM, **changes}), "t") != config_hash(stored(LLM), "t")


def test_the_task_counts_by_its_content() -> None:
    here, there = {**LLM, "task": "/a/mine"}, {**LLM, "task": "/b/mine"}
    assert config_hash(stored(here), "t") == config_hash(stored(there), "t")
    assert config_hash(stored(here), "t") != config_hash(stored(here), "u")


def test_a_default_counts_as_if_it_were_left_out() -> None:
    assert config_hash(LLM, "t") == config_hash(stored(LLM), "t")
    assert len(config_hash(LLM, "t")) == 12
