"""Which configurations are the same, and what the others are called."""

from typing import Any

import pytest

from engine.compare.settings import arm_name, differing, search_settings
from engine.config import parse_config
from engine.tracking.parameters import flatten

MODELS = {"gpt-4.1": {"model": "large", "temperature": 0.7}}
LLM: dict[str, Any] = {"operators": [{"kind": "llm"}], "llm": {"models": MODELS}}


def settings(**values: Any) -> dict[str, str]:
    config = parse_config({"task": "sgemm", **values}, where="test")
    return search_settings(dict(flatten(config.model_dump(mode="json"))))


@pytest.mark.parametrize(
    "changes",
    [
        {"task": "softmax", "name": "b", "seed": 4, "runs_dir": "/elsewhere", "tracking": "none"},
        {"budgets": {"evaluations": 50, "wall_time_s": 10}, "final": {"seconds": 3}},
        {"devices": {"ids": [0]}},
        {"operators": [{}, {}], "islands": {"count": 2}},
        {"operators": [{"kind": "catalog"}]},
    ],
)
def test_names_places_and_ends_are_no_settings(changes: dict[str, Any]) -> None:
    assert settings(**changes).keys() <= {"operators"}


def test_what_a_search_does_differently_is_one() -> None:
    assert settings(islands={"patience": 201}) == {"islands.patience": "201"}
    assert settings(budgets={"tuning": 0}) == {"budgets.tuning": "0"}
    assert settings(operators=[{"kind": "random"}]) == {"operators.kind": "random"}
    mixed = settings(operators=[{"kind": "random"}, {}])
    assert mixed == {"operators.0.kind": "random", "operators": "2 mixes"}
    assert settings(profiles="off") == {"profiles.most": "0"}


def test_of_a_model_endpoints_are_none_and_names_may_hold_dots() -> None:
    elsewhere = {"llm": {"models": MODELS, "base_url": "http://else:1/v1", "retries": 1}}
    assert settings(**{**LLM, **elsewhere}) == settings(**LLM)
    assert settings(**LLM) == {
        "operators.kind": "llm",
        "llm.models.gpt-4.1.model": "large",
        "llm.models.gpt-4.1.temperature": "0.7",
    }


def test_a_key_that_an_older_campaign_lacks_is_as_by_default() -> None:
    whole = dict(flatten(parse_config({"task": "sgemm"}, where="test").model_dump(mode="json")))
    del whole["islands.memory"]
    assert search_settings(whole) == search_settings({**whole, "islands.memory": "shared"}) == {}


def test_names_are_overrides_of_what_differs() -> None:
    arms = [settings(), settings(operators=[{"kind": "random"}])]
    keys = differing(arms)
    assert [arm_name(one, keys) for one in arms] == [
        "operators.kind=catalog",
        "operators.kind=random",
    ]
    islands = {"count": 4, "capacity": 9, "tournament": 3, "cycles_in_flight": 1}
    many = [settings(), settings(islands=islands)]
    keys = differing(many)
    assert arm_name(many[1], keys).endswith("islands.cycles_in_flight=1, and 1 more")
    assert arm_name(many[0], keys).startswith("islands.capacity=40, islands.count=2")
