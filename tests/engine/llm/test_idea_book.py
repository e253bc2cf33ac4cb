"""Tests of the book of ideas: what repeats an idea is not granted, what was granted stays so."""

import asyncio

import pytest

from engine.llm.idea_book import IdeaBook
from engine.store.events import Event
from engine.store.kinds.ideas import IdeaCompared, IdeasTold
from operators.individual import Experiment, Idea


class Log:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def post(self, event: Event) -> None:
        self.events.append(event)

    async def commit(self, event: Event) -> None:
        self.events.append(event)


def experiment(technique: str, description: str, new: str = "") -> Experiment:
    return Experiment(
        technique=technique,
        description=description,
        rubric="1. Change it.",
        performance=(0, 10),
        innovation=10,
        new=new,
    )


PAD = experiment(
    "lds-row-padding", "Pad each row of the LDS tile by a word, so that banks do not conflict."
)
PAD_AGAIN = experiment(
    "conflict-free-scratchpad",
    "Give shared memory lines one extra column: strided lanes fall into separate banks.",
)
SPLIT = experiment("split-k", "Divide the reduction over several blocks and add partial sums.")


def claim(
    book: IdeaBook, island: int, cycle: int, number: int, one: Experiment, *, again: bool = False
) -> Idea | None:
    """By a designer that was told of all there was."""
    asyncio.run(book.tell(island, cycle))
    return asyncio.run(book.claim(island, cycle, number, one, again=again))


def compared(log: Log) -> list[IdeaCompared]:
    return [event for event in log.events if isinstance(event, IdeaCompared)]


def test_an_idea_is_granted_once_on_all_islands() -> None:
    log = Log()
    book = IdeaBook(log)
    assert claim(book, 0, 1, 0, PAD) is None
    earlier = claim(book, 1, 1, 0, PAD_AGAIN)
    assert earlier is not None and earlier.technique == "lds-row-padding"
    assert claim(book, 1, 1, 1, SPLIT) is None
    assert [event.key for event in compared(log)] == ["i0/c1/e0", "i1/c1/e0", "i1/c1/e1"]


def test_islands_with_memories_of_their_own_may_repeat_each_other() -> None:
    book = IdeaBook(Log(), shared=False)
    assert claim(book, 0, 1, 0, PAD) is None
    assert claim(book, 1, 1, 0, PAD_AGAIN) is None
    assert claim(book, 1, 2, 0, PAD) is not None


def test_a_repeat_that_says_what_is_new_is_granted() -> None:
    book = IdeaBook(Log())
    assert claim(book, 0, 1, 0, PAD) is None
    said = experiment(PAD_AGAIN.technique, PAD_AGAIN.description, new="the same, but better")
    assert claim(book, 0, 2, 0, said) is not None
    new = "swizzles by XOR instead of padding, which leaves room for a second buffer"
    assert claim(book, 0, 2, 1, experiment("lds-swizzle", PAD.description, new=new)) is None


def test_what_says_little_is_a_repeat_only_where_it_says_the_same() -> None:
    book = IdeaBook(Log())
    first = experiment("retune-tm", "Another value of TM (4).")
    assert claim(book, 0, 1, 0, first) is None
    assert claim(book, 0, 1, 1, experiment("retune-tn", "Another value of TN (8).")) is None
    assert claim(book, 0, 1, 2, first) is not None


def test_what_is_new_counts_only_against_what_the_designer_was_told_of() -> None:
    log = Log()
    book = IdeaBook(log)
    assert asyncio.run(book.tell(1, 1)) == ()
    assert claim(book, 0, 1, 0, PAD) is None
    new = "swizzles by XOR instead of padding, which leaves room for a second buffer"
    said = experiment("lds-swizzle", PAD.description, new=new)
    assert claim(book, 1, 1, 0, said) is not None
    assert asyncio.run(book.tell(1, 1)) == (), "the same question has the same answer"
    assert claim(book, 1, 1, 5, said, again=True) is None
    assert [one.technique for one in asyncio.run(book.tell(1, 2))] == [PAD.technique, "lds-swizzle"]
    stored = [event for event in log.events if isinstance(event, IdeasTold | IdeaCompared)]
    assert asyncio.run(IdeaBook(Log(), earlier=stored).tell(1, 1)) == ()


@pytest.mark.parametrize("shared", [True, False])
def test_what_was_granted_is_granted_again_after_a_kill(shared: bool) -> None:
    log = Log()
    book = IdeaBook(log, shared=shared)
    claim(book, 0, 1, 0, PAD)
    stored = [event for event in log.events if isinstance(event, IdeasTold | IdeaCompared)]
    after = Log()
    again = IdeaBook(after, shared=shared, earlier=stored)
    assert claim(again, 0, 1, 0, PAD) is None
    assert after.events == []
    assert claim(again, 0, 1, 1, PAD_AGAIN) is not None
