"""Structured replies: where the object may stand, what may be wrong with it."""

import json
from typing import Any

import pytest

from operators.llm.question import Failure, Malformed, Reply
from operators.llm.replies import DesignerReply, SelectorReply, read_structured, schema_of

GOOD = {"base_id": "a" * 16, "reference_id": "b" * 16, "rationale": "because"}


def reply(text: str, **changes: Any) -> Reply:
    values: dict[str, Any] = {
        "text": text,
        "finish": "stop",
        "model": "m",
        "prompt_tokens": 1,
        "completion_tokens": 1,
        "latency_s": 0.1,
    }
    return Reply(**{**values, **changes})


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        json.dumps(GOOD, indent=2),
        f"```json\n{json.dumps(GOOD)}\n```",
        f"Sure! Here it is:\n\n```\n{json.dumps(GOOD)}\n```\nGood luck.",
        f"The choice: {json.dumps(GOOD)} as asked.",
        f"```json\n{{}}\n```\nNo, rather:\n```json\n{json.dumps(GOOD)}\n```",
        f"```yaml\nbase_id: {'a' * 16}\nreference_id: {'b' * 16}\nrationale: because\n```",
        json.dumps({**GOOD, "confidence": 3}),
    ],
)
def test_the_object_is_found(text: str) -> None:
    assert read_structured(reply(text), SelectorReply).model_dump() == GOOD


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        (reply(""), Failure.EMPTY, "empty"),
        (reply("", reasoning_characters=9), Failure.ONLY_REASONING, "reasoning"),
        (reply("", refusal="no"), Failure.REFUSAL, "no"),
        (reply("I'm sorry, but I can't help with that."), Failure.REFUSAL, "refused"),
        (reply("x", finish="content_filter"), Failure.REFUSAL, "content filter"),
        (reply("Base should be the first."), Failure.PROSE_ONLY, "no JSON object"),
        (reply('{"base_id": "a", '), Failure.MALFORMED_JSON, "not valid JSON"),
        (reply('{"base_id": "a", ', finish="length"), Failure.TRUNCATED, "cut off"),
        (reply('{"base_id": "a"}'), Failure.MISSING_FIELDS, "reference_id: field required"),
        (reply(json.dumps({**GOOD, "base_id": None})), Failure.MISSING_FIELDS, "base_id"),
        (reply("```yaml\na: &x [1]\nb: *x\n```"), Failure.MALFORMED_JSON, "alias"),
        (reply("[1, 2]"), Failure.PROSE_ONLY, "no JSON object"),
    ],
)
def test_what_is_wrong_has_a_kind_and_a_sentence(given: Reply, kind: Failure, says: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_structured(given, SelectorReply)
    assert caught.value.kind is kind
    assert says in caught.value.reason


def experiment(**changes: Any) -> dict[str, Any]:
    values = {
        "technique": "t",
        "avenue": "a",
        "description": "d",
        "rubric": "r",
        "performance": [1, 2],
        "innovation": 50,
    }
    return {**values, **changes}


def test_habits_of_models_are_taken_as_meant() -> None:
    said = {
        "avenues": ["one", {"name": "two", "idea": "more"}],
        "experiments": [
            experiment(rubric=["1. a", "2. b"], performance=["5%", "20 %"], innovation=12.6)
        ],
    }
    read = read_structured(reply(json.dumps(said)), DesignerReply)
    assert read.avenues == ["one", "two: more"]
    assert read.experiments[0].rubric == "1. a\n2. b"
    assert read.experiments[0].performance == [5.0, 20.0]


@pytest.mark.parametrize(
    "changes", [{"performance": [1]}, {"innovation": 101}, {"rubric": ""}, {"performance": "big"}]
)
def test_an_experiment_with_a_senseless_field_is_refused(changes: dict[str, Any]) -> None:
    said = {"avenues": ["one"], "experiments": [experiment(), experiment(**changes)]}
    with pytest.raises(Malformed) as caught:
        read_structured(reply(json.dumps(said)), DesignerReply)
    assert f"experiments.1.{next(iter(changes))}" in caught.value.reason


def test_schemas_are_strict_and_need_no_lookup() -> None:
    schema = schema_of(DesignerReply)
    text = json.dumps(schema)
    assert "$ref" not in text and "$defs" not in text
    inner = schema["properties"]["experiments"]["items"]
    for node in (schema, inner):
        assert node["additionalProperties"] is False
        assert set(node["required"]) == set(node["properties"])
    assert "description" in inner["properties"]
