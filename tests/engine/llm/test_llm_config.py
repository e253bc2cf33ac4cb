"""The section llm of a configuration: what it takes, and what it must never repeat."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from engine.config_errors import first_problem
from engine.llm.config import Llm

MODELS = {"fast": {"model": "small"}, "strong": {"model": "large"}}


def llm(**changes: Any) -> Llm:
    return Llm(**{"models": MODELS, **changes})


def test_a_role_asks_its_model_and_the_others_the_first() -> None:
    section = llm(roles={"writer": "strong"})
    assert section.model_name("writer") == "strong"
    assert section.model_name("selector") == "fast"
    assert section.model_name("selector", "strong") == "strong"


def test_islands_are_dealt_models_and_temperatures_in_turn() -> None:
    models = {"fast": {"model": "small", "temperature": [0.5, 1.0, 1.2]}, "b": {"model": "x"}}
    section = llm(models=models, roles={"designer": ["b", "fast"]})
    assert [section.model_name("designer", island=i) for i in range(3)] == ["b", "fast", "b"]
    assert section.model_name("designer", "fast", 0) == "fast"
    assert [section.options("fast", i).temperature for i in range(4)] == [0.5, 1.0, 1.2, 0.5]
    assert section.options("b", 3).temperature is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"roles": {"writer": ["fast", "best"]}}, "models has fast, strong"),
        ({"models": {"a": {"model": "x", "temperature": [0.5, -1]}}}, "temperature"),
        ({"roles": {"writer": "best"}}, "models has fast, strong"),
        ({"roles": {"author": "fast"}}, "author"),
        ({"models": {}}, "models"),
        ({"base_url": "localhost:8000"}, "http://"),
        ({"novelty": 2}, "novelty"),
        ({"temperature": 1}, "temperature"),
        ({"models": {"a": {"model": "x", "structured": "yaml"}}}, "structured"),
    ],
)
def test_a_bad_section_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as caught:
        llm(**changes)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"roles": {"writer": []}}, "roles.writer: name 1 or more"),
        ({"roles": {"writer": 3}}, "roles.writer: write text"),
        ({"roles": {"writer": ["fast", 3]}}, "roles.writer.1: write text"),
        ({"models": {"a": {"model": "x", "temperature": []}}}, "a.temperature: name 1 or more"),
        ({"models": {"a": {"model": "x", "temperature": "hot"}}}, "a.temperature: write a number"),
        ({"models": {"a": {"model": "x", "temperature": [1, "hot"]}}}, "temperature.1: write a n"),
        ({"models": {"a": {"model": "x", "temperature": True}}}, "temperature is a number, not tr"),
        ({"models": {"a": {"model": "x", "temperature": math.inf}}}, "temperature: write a finite"),
    ],
)
def test_what_may_be_one_or_a_list_is_told_by_its_key_alone(
    changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        llm(**changes)
    assert says in first_problem(caught.value, Llm)


@pytest.mark.parametrize(
    "changes",
    [
        {"api_key_env": "sk-secret-0123456789"},
        {"base_url": "https://me:secret-0123456789@host/v1"},
        {"models": {"a": {"model": "x", "api_key_env": "sk-secret-0123456789"}}},
    ],
)
def test_a_secret_in_the_file_is_refused_without_repeating_it(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        llm(**changes)
    for problem in caught.value.errors():
        assert "secret" not in problem["msg"]
        assert not isinstance(problem["input"], str)


def test_dollars_bind_only_where_every_model_has_a_price() -> None:
    priced = {"model": "x", "dollars_per_million_completion": 2.0}
    assert llm(models={"a": priced}).priced
    assert not llm(models={"a": priced, "b": {"model": "y"}}).priced
