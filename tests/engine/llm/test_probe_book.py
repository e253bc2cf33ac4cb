"""Tests of the book of probes: a budget for all islands, and no question twice."""

import asyncio
from copy import deepcopy

from engine.llm.probe_book import ProbeBook
from engine.store.events import Event
from engine.store.kinds.probes import ProbeClaimed, ProbeEvent, ProbeLog, ProbeWritten
from operators.operator import AskedProbe, ProbesLeft


class Log:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.folded = ProbeLog()

    def post(self, event: Event) -> None:
        raise AssertionError("each is stored before it is acted on")

    async def commit(self, event: Event) -> None:
        self.events.append(event)
        assert isinstance(event, ProbeEvent)
        self.folded.apply(event)


def claim(book: ProbeBook, place: tuple[int, int, int], question: str) -> bool:
    asked = AskedProbe(question=question, rubric="1. Look.")
    return asyncio.run(book.claim(*place, asked))


def test_no_more_are_granted_than_there_may_be() -> None:
    log = Log()
    book = ProbeBook(log, most=2)
    assert [claim(book, (0, 1, n), f"What of {n}?") for n in range(3)] == [True, True, False]
    assert [one.became for one in log.events if isinstance(one, ProbeClaimed)] == [
        "granted",
        "granted",
        "refused",
    ]


def test_the_same_words_are_one_question_on_all_islands() -> None:
    log = Log()
    book = ProbeBook(log, most=5)
    assert claim(book, (0, 1, 0), "What does `expf` cost?")
    assert not claim(book, (1, 4, 1), "what does expf  cost")
    assert claim(book, (1, 4, 0), "What does logf cost?")
    repeated = log.folded.claims["i1/c4/p1"]
    assert (repeated.became, repeated.repeats) == ("repeated", "i0/c1/p0")
    assert len(log.folded.granted) == 2, "a repeated one takes no place"


def test_what_was_said_once_is_said_again_after_a_kill() -> None:
    log = Log()
    book = ProbeBook(log, most=2)
    assert asyncio.run(book.tell(0, 1)) == ProbesLeft(count=2)
    assert claim(book, (0, 1, 0), "One?")
    told = ProbesLeft(count=1, asked=("One?",))
    assert asyncio.run(book.tell(1, 1)) == told
    assert claim(book, (1, 1, 0), "Two?")
    assert not claim(book, (1, 1, 1), "Three?")

    known = len(log.events)
    again = ProbeBook(log, most=2, log=deepcopy(log.folded))
    assert asyncio.run(again.tell(0, 1)) == ProbesLeft(count=2)
    assert asyncio.run(again.tell(1, 1)) == told
    assert claim(again, (0, 1, 0), "One?") and claim(again, (1, 1, 0), "Two?")
    assert not claim(again, (1, 1, 1), "Three?")
    assert len(log.events) == known, "nothing new was stored"
    assert asyncio.run(again.tell(0, 2)) == ProbesLeft(count=0, asked=("One?", "Two?"))


def test_a_larger_budget_of_a_resumption_grants_more() -> None:
    log = Log()
    assert not claim(ProbeBook(log, most=0), (0, 1, 0), "One?")
    assert claim(ProbeBook(log, most=1, log=deepcopy(log.folded)), (0, 2, 0), "One?")


def test_a_file_is_stored_once() -> None:
    log = Log()
    book = ProbeBook(log, most=1)
    written = ProbeWritten(island=0, cycle=1, number=0, text="/*---")
    assert asyncio.run(book.write(written)) and not asyncio.run(book.write(written))
    assert log.events == [written] and log.folded.unanswered == [written]
