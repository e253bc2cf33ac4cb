"""Structured replies: where the object may stand, what may be wrong with it."""

import json
from typing import Any

import pytest

from operators.llm.question import Failure, Malformed, Reply
from operators.llm.replies import DesignerReply, SelectorReply
from operators.llm.schema import schema_of
from operators.llm.structured import read_structured

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


def test_no_word_of_a_reply_moves_a_terminal_s_cursor() -> None:
    said = {**GOOD, "rationale": "first\r\n\tthen \x1b[2J\x07\x9b red"}
    read = read_structured(reply(json.dumps(said)), SelectorReply)
    assert read.rationale == "first\r\n\tthen \\x1b[2J\\x07\\x9b red"
    design = {"experiments": [experiment(technique="\x1b]0;x")], "avenues": ["\x1b[31m"]}
    found = read_structured(reply(json.dumps(design)), DesignerReply)
    assert (found.experiments[0].technique, found.avenues) == (r"\x1b]0;x", [r"\x1b[31m"])


A, B = "a1" * 8, "0" * 8 + "7" * 8  # the second would be a number to YAML


@pytest.mark.parametrize(
    "text",
    [
        f"basis_code: {A}\nbasis_reference: {B}\nrationale: because",
        f"I compared them.\n\nbasis_code: {A}\nbasis_reference: {B}\nrationale: because\n\nDone.",
        f"rationale: |\n  because\nbasis_code: {A}\nbasis_reference: {B}\n\nI hope this helps.",
        f"rationale: >-\n  because\nbase_id: '{A}'\nreference_id: \"{B}\"\n",
        f"```yaml\nbasis_code: {A}\nbasis_reference: {B}\nrationale: because",
        f"selection:\n  basis_code: {A}\n  basis_reference: {B}\n  rationale: because",
        f"- **Basis Code**: `{A}`\n- **Basis Reference**: `{B}`\n- **Rationale**: because\n",
        f"**Base:** {A} (the best)\n**Reference:** kernel {B}\n\n**Rationale:**\n\nbecause\n",
        f"basis_code: {A}\nbasis_reference: {B}\nrationale:\n  - because",
        f"---\nbasis_code: {A}\n---\nbasis_reference: {B}\nrationale: because\n---\n",
        f"{{base_id: {A}, reference_id: '{B}', rationale: because,}}",
        json.dumps({"selection": {"base": A, "reference": B, "rationale": "because"}}),
        json.dumps([{"base": A, "reference": B, "rationale": ["because"]}]),
        json.dumps({"base": A, "reference": B, "rationale": "because"}) + "\nSo {much} for that.",
        "Here: " + json.dumps([{"base": A, "reference": B, "rationale": "because"}]) + " [1]",
    ],
)
def test_the_papers_own_form_and_what_is_nearly_yaml(text: str) -> None:
    read = read_structured(reply(text), SelectorReply)
    assert (read.base_id, read.reference_id, read.rationale) == (A, B, "because")


@pytest.mark.parametrize(
    "said", ["it wins: twice", "*all* of it", "`tile` is best", "50% of it: @"]
)
def test_a_sentence_that_is_no_yaml_is_taken_as_it_is(said: str) -> None:
    text = f"basis_code: {A}\nbasis_reference: {B}\nrationale: {said}\n  and so on.\n"
    assert read_structured(reply(text), SelectorReply).rationale == f"{said}\nand so on."


def test_yaml_that_is_cut_off_is_not_taken_as_whole() -> None:
    text = f"basis_code: {A}\nbasis_reference: {B}\nrationale: beca"
    with pytest.raises(Malformed) as caught:
        read_structured(reply(text, finish="length"), SelectorReply)
    assert caught.value.kind is Failure.TRUNCATED


@pytest.mark.parametrize("empty", ["", "~", "null", "''"])
def test_yaml_with_an_empty_field_lacks_it(empty: str) -> None:
    with pytest.raises(Malformed, match="rationale"):
        read_structured(reply(f"base: {A}\nreference: {B}\nrationale: {empty}"), SelectorReply)


def test_an_object_of_other_keys_is_told_which_are_missing() -> None:
    with pytest.raises(Malformed) as caught:
        read_structured(reply('{"first": "a", "second": "b"}'), SelectorReply)
    assert caught.value.kind is Failure.MISSING_FIELDS
    assert "base_id: field required" in caught.value.reason


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


PAPER = """avenues:
  - memory access: wider loads
  - occupancy
experiments:
  - description: Stage tiles in LDS
    rubric: |
      1. Declare the tile: one for each operand.
      2. Fill it.
    performance: [5, 20]
    innovation: 40
  - description: >
      Unroll the
      inner loop
    rubric: Unroll it by 4.
    performance: {min: -5, max: 10}
    innovation: 10
"""


@pytest.mark.parametrize(
    "text",
    [
        PAPER,
        f"Here are they.\n\n{PAPER}\nGood luck!",
        f"```yaml\n{PAPER}",
        f"```yaml\n{PAPER}```\nThe first is the safe one.",
        "design:\n" + "".join(f"  {line}\n" for line in PAPER.splitlines()),
        PAPER.replace("- occupancy", '- "occupancy"').replace("\n", "\r\n"),
        PAPER.partition("experiments:\n")[2],
        "experiments:\n" + PAPER.partition("experiments:\n")[2],
        PAPER.replace("  - description: S", "  experiment_1:\n    description: S").replace(
            "  - description: >", "  experiment_2:\n    description: >"
        ),
    ],
)
def test_a_design_in_the_papers_form(text: str) -> None:
    read = read_structured(reply(text), DesignerReply)
    first, second = read.experiments
    assert first.description == "Stage tiles in LDS"
    assert first.rubric.strip() == "1. Declare the tile: one for each operand.\n2. Fill it."
    assert first.performance == [5, 20]
    assert " ".join(second.description.split()) == "Unroll the inner loop"
    assert (second.performance, second.innovation) == ([-5, 10], 10)
    named = ["memory access: wider loads", "occupancy"] if "avenues" in text else []
    assert read.avenues == named


def test_a_design_that_breaks_yaml_is_read_by_its_lines() -> None:
    text = PAPER.replace("rubric: Unroll it", "rubric: *Unroll*: it").replace("- occ", "- `occ")
    read = read_structured(reply(f"# Experiments\n{text}\n## Remarks\nNone."), DesignerReply)
    assert [one.innovation for one in read.experiments] == [40, 10]
    assert read.experiments[0].rubric == "1. Declare the tile: one for each operand.\n2. Fill it."
    assert read.experiments[1].rubric == "*Unroll*: it by 4."
    assert read.avenues == ["memory access: wider loads", "`occupancy"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("5-20%", [5, 20]),
        ("5% - 20%", [5, 20]),
        ("[5, 20]", [5, 20]),
        ("+5% to +20%", [5, 20]),
        ("-5% to 10%", [-5, 10]),
        ("-5 - -2", [-5, -2]),
        ("(-5, -2)", [-5, -2]),
        ("5–20 %", [5, 20]),
        ("about 5..20 percent", [5, 20]),
        ("1.05x to 1.5x", [5, 50]),
        ("15%", [15, 15]),
        (7, [7, 7]),
        ([5, "20%"], [5, 20]),
        (["5%", "20%"], [5, 20]),
        ({"min": "5%", "max": 20}, [5, 20]),
        ([{"min": 5}, {"max": 20}], [5, 20]),
    ],
)
def test_an_uplift_may_be_written_in_many_ways(said: object, meant: list[float]) -> None:
    text = json.dumps([experiment(performance=said)])
    read = read_structured(reply(text), DesignerReply)
    assert read.experiments[0].performance == pytest.approx(meant)


@pytest.mark.parametrize(
    "said", ["big", "5, 10, 20", [5, "a lot"], None, True, "9" * 500, float("inf")]
)
def test_an_uplift_that_is_no_range_is_refused(said: object) -> None:
    with pytest.raises(Malformed, match="two numbers") as caught:
        read_structured(reply(json.dumps([experiment(performance=said)])), DesignerReply)
    assert caught.value.kind is Failure.MISSING_FIELDS


@pytest.mark.parametrize("model", [SelectorReply, DesignerReply])
@pytest.mark.parametrize(
    "unit",
    [
        "rationale: ",
        "- rubric:\n",
        "\n- x\n",
        "base: \n\n",
        "*_`",
        " - * ",
        "\t",
        "performance: [",
        "{a: ",
        "```\n",
    ],
)
def test_long_nonsense_is_read_in_a_moment(unit: str, model: type[SelectorReply]) -> None:
    with pytest.raises(Malformed):
        read_structured(reply(f"base {unit * 10_000}"), model)


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
