"""Tokens a role: medians, sums, and what of a prompt an earlier one begins with."""

from operators.llm.question import Message
from scripts.prompt_tokens import beginning, figures


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
