"""Tokens a role: medians, sums, and what of a prompt an earlier one begins with."""

import json
import random

from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task
from operators.llm.question import Message
from scripts.prompt_tokens import beginning, figures
from scripts.scripted_model.answers import changed
from scripts.scripted_model.catalogue_mind import catalogue_mind
from scripts.scripted_model.mind import recognised


def said(text: str) -> list[Message]:
    return [Message(role="user", content=text)]


def test_beginnings_are_found() -> None:
    assert beginning("abcdef", "abcxef") == 3
    assert beginning("abc", "abcdef") == beginning("abcdef", "abc") == 3
    assert beginning("", "abc") == beginning("xbc", "abc") == 0


def test_a_role_is_counted_and_what_was_sent_before_is_cached() -> None:
    told = "x" * 300
    found = figures(
        [("writer", said(told)), ("writer", said(told + "y" * 300)), ("designer", said("z" * 30))]
    )
    assert found["writer"] == {
        "calls": 2,
        "median": 158,
        "max": 208,
        "total": 316,
        "cached_share": round(300 / 900, 3),
    }
    assert found["designer"]["cached_share"] == 0
    assert found["all"]["calls"] == 3
    assert "selector" not in found


def test_the_catalogues_mind_designs_nothing_that_its_prompt_shows() -> None:
    rule = catalogue_mind(load_task("softmax"))
    shown = "You are the Experiment Designer in a search"
    tried: set[int] = set()
    for number in range(4):
        said = rule([{"role": "user", "content": shown}], number)
        experiments = json.loads(said)["experiments"]
        made = recognised("\n".join(one["technique"] for one in experiments))
        assert len(made) == len(experiments) and not made & tried
        tried |= made
        shown += "\n" + "\n".join(one["description"] for one in experiments)


def test_a_kernel_without_a_space_is_changed_again_and_again() -> None:
    source = load_task("sum_reduction").naive
    made = set()
    for number in range(20):
        source = changed(source, "", random.Random(number))
        made.add(parse_kernel(source).options)
    assert len(made) > 15
