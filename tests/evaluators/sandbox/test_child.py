"""A supervised child: it answers, dies or is late, and leaves nothing behind."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.sandbox.child import Child, Died
from evaluators.sandbox.frames import MSGPACK, Overdue
from tests.evaluators.processes.test_child_evaluator import gone

LONG_S = 60.0
ROOT = Path(__file__).parents[3]


@pytest.fixture
def child() -> Iterator[Child]:
    environment = {"PYTHONPATH": str(ROOT)}
    with Child(
        "tests.evaluators.sandbox.talking_child", environment=environment, codec=MSGPACK
    ) as made:
        yield made


def test_it_answers_in_turn_and_printing_is_no_answer(child: Child) -> None:
    for word in ("one", "print", "two"):
        child.tell(word)
        assert child.answer(LONG_S) == word
    assert child.alive()


@pytest.mark.parametrize(
    ("word", "ending", "said"),
    [
        ("abort", "SIGABRT", "the last words"),
        ("leave", "exit status 1", "nothing to do\nbut to leave"),
    ],
)
def test_a_death_is_told_with_its_last_words(
    child: Child, word: str, ending: str, said: str
) -> None:
    child.tell(word)
    with pytest.raises(Died) as caught:
        child.answer(LONG_S)
    assert (caught.value.ending, caught.value.said) == (ending, said)
    assert not child.alive()
    child.tell("to nobody")
    with pytest.raises(Died, match=str(caught.value.returncode)):
        child.answer(LONG_S)


def test_a_late_child_is_overdue_and_ended(child: Child) -> None:
    child.tell("sleep")
    with pytest.raises(Overdue):
        child.answer(0.1)
    assert child.alive()
    child.end()
    assert not child.alive()
    child.end()


@pytest.mark.parametrize("killed_first", [False, True])
def test_what_it_started_ends_with_it(child: Child, killed_first: bool) -> None:
    child.tell("start")
    started = child.answer(LONG_S)
    assert Path(f"/proc/{started}").exists()
    if killed_first:
        os.kill(child.pid, signal.SIGKILL)
        child.tell("one")
        with pytest.raises(Died, match="-9"):
            child.answer(LONG_S)
    child.end()
    assert gone(started)
