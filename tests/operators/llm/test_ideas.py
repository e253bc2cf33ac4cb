"""Tests of likeness: ideas worded anew by people who had not seen how it is told."""

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from operators.individual import Idea
from operators.llm.ideas import LOOKS_REPEATED, REPEATED, Ideas, says_what_is_new, terms_of

FILES = sorted((Path(__file__).parent / "ideas").glob("*.json"))


@cache
def worded(file: Path) -> list[list[Idea]]:
    """Ideas, each in four wordings that share under half of their words."""
    listed: list[dict[str, Any]] = json.loads(file.read_text())
    return [[Idea(key=one["idea"], **words) for words in one["wordings"]] for one in listed]


def likenesses(file: Path, *, tried: bool) -> Iterator[float]:
    """Of an idea in a new wording to the most similar of those that were tried, itself or not."""
    for turn in range(4):
        for one in worded(file):
            book = Ideas(words[turn] for words in worded(file) if tried or words is not one)
            nearest = book.nearest(one[(turn + 1) % 4])
            assert nearest is not None
            yield nearest[1]


def share(values: Iterator[float], limit: float) -> float:
    listed = list(values)
    return sum(value >= limit for value in listed) / len(listed)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_idea_worded_anew_looks_repeated_and_most_new_ones_do_not(file: Path) -> None:
    assert share(likenesses(file, tried=True), LOOKS_REPEATED) > 0.85
    assert share(likenesses(file, tried=False), LOOKS_REPEATED) < 0.5
    assert share(likenesses(file, tried=False), REPEATED) < 0.25


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_with_four_words_in_ten_kept_hardly_any_repeat_is_missed(file: Path) -> None:
    draw = random.Random(3)
    pool = [word for one in worded(file) for idea in one for word in idea.description.split()]

    def reworded(text: str) -> str:
        return " ".join(w if draw.random() < 0.45 else draw.choice(pool) for w in text.split())

    book = Ideas(one[0] for one in worded(file))
    found = 0
    for one in worded(file):
        again = Idea(
            key="",
            technique=f"{draw.choice(pool)}-{draw.choice(pool)}",
            description=reworded(one[0].description),
            rubric=reworded(one[0].rubric),
        )
        nearest = book.nearest(again)
        found += nearest is not None and nearest[1] >= REPEATED
    assert found >= 0.9 * len(worded(file))


def test_words_of_the_field_that_mean_the_same_are_one_term() -> None:
    texts = ("in shared memory", "through the scratchpad", "by way of LDS")
    terms = [terms_of(Idea(key="", technique="", description=text)).keys() for text in texts]
    assert "#lds" in terms[0] & terms[1] & terms[2]


def test_what_is_new_must_be_said_in_other_words_than_the_earlier_ones() -> None:
    earlier = Idea(key="", technique="unroll", description="Unroll the inner loop by four.")
    assert not says_what_is_new("", earlier)
    assert not says_what_is_new("It unrolls the inner loop, by four.", earlier)
    assert says_what_is_new("Also prefetches the next tile into registers.", earlier)


def test_of_nothing_nothing_is_near() -> None:
    assert Ideas().nearest(Idea(key="", technique="a", description="b")) is None
    lone = Ideas([Idea(key="", technique="", description="", island=1)])
    nearest = lone.nearest(Idea(key="", technique="x", description=""))
    assert nearest is not None and nearest[1] == 0.0
    assert lone.nearest(Idea(key="", technique="x", description=""), island=0) is None
