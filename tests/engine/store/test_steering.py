"""Pauses in a campaign's log: time that no budget counts."""

from pathlib import Path

import pytest

from engine.store.events import Evaluated, Event
from engine.store.kinds.sessions import CampaignStarted, SearchEnded, SearchStarted, SessionFinished
from engine.store.kinds.steering import Paused, WentOn
from engine.store.replay import Replay
from engine.store.store import Stored
from tests.engine import campaign_log as log


def searched_s(folder: Path, *timed: tuple[float, Event]) -> float:
    """timed: events with the seconds since the search began."""
    started, session, *_ = log.opening(log.config(folder))
    assert isinstance(started, CampaignStarted)
    whole = Replay(started)
    begun = [(0.0, session), (0.0, SearchStarted(number=0))]
    for seq, (at, event) in enumerate([*begun, *timed], 2):
        whole.apply(Stored(seq, 1.8e9 + at, event))
    return whole.searched_s


PAUSED, WENT_ON = Paused(session=0, number=0), WentOn(session=0, number=0)
AGAIN = Paused(session=0, number=1)
ENDED = SearchEnded(number=0, reason="")


def test_a_pause_is_no_time_of_search(tmp_path: Path) -> None:
    assert searched_s(tmp_path, (30.0, ENDED)) == 30.0
    rested = searched_s(tmp_path, (10.0, PAUSED), (25.0, WENT_ON), (30.0, ENDED))
    assert rested == pytest.approx(15.0)
    both = searched_s(tmp_path, (10.0, PAUSED), (25.0, WENT_ON), (30.0, AGAIN), (90.0, ENDED))
    assert both == pytest.approx(15.0)


def test_a_session_that_was_killed_in_a_pause_searched_until_then(tmp_path: Path) -> None:
    late = Evaluated(evaluation=log.evaluation("late", 2.0))
    assert searched_s(tmp_path, (10.0, PAUSED), (12.0, late)) == pytest.approx(10.0)
    finished = SessionFinished(number=0, reason="")
    ended = searched_s(tmp_path, (10.0, PAUSED), (25.0, WENT_ON), (27.0, ENDED), (90.0, finished))
    assert ended == pytest.approx(12.0)
