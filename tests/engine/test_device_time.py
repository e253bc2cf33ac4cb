"""What devices did and waited for: shares of the search's time, from what was seen."""

from dataclasses import replace

import pytest

from engine.device_time import BETWEEN, DeviceTime
from engine.snapshot import NOTHING_YET


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_idle_time_is_shared_out_over_what_was_waited_for() -> None:
    clock = Clock()
    before = replace(NOTHING_YET, busy_s={"candidates": 1.0})
    watched = DeviceTime(2, before, clock)
    for compiling, asked, idle in ((1, True, 2), (0, True, 1), (0, False, 1), (0, False, 0)):
        clock.now += 1.0
        state = replace(before, compiling=compiling, idle_devices=idle)
        watched.look(state, models_asked=asked)
    busy = {"candidates": 3.0, "contests": 1.0, "profiles": 0.0}
    told = watched.tell(replace(before, busy_s=busy, offered_s=8.0))
    assert told.busy_s == {"candidates": 2.0, "contests": 1.0}
    # 2 devices over 4 s, 3 s of them busy; idle devices were seen for 2, 1 and 1 s.
    assert told.idle_s == {
        "waiting for the compiler": 2.5,
        "waiting for models": 1.25,
        "waiting for islands to ask": 1.25,
    }
    assert (told.number, told.count) == (2, 0)
    assert watched.tell(before).count == 1


def test_devices_that_were_never_seen_idle_lost_their_time_between_kernels() -> None:
    clock = Clock()
    watched = DeviceTime(0, NOTHING_YET, clock)
    clock.now += 10.0
    watched.look(NOTHING_YET, models_asked=False)
    told = watched.tell(replace(NOTHING_YET, busy_s={"candidates": 9.5}, offered_s=10.0))
    assert told.idle_s == {BETWEEN: pytest.approx(0.5)}


def test_a_device_in_quarantine_is_no_device_that_waits() -> None:
    clock = Clock()
    watched = DeviceTime(0, NOTHING_YET, clock)
    clock.now += 4.0
    watched.look(replace(NOTHING_YET, quarantined=1, idle_devices=0), models_asked=True)
    told = watched.tell(replace(NOTHING_YET, busy_s={"candidates": 4.0}, offered_s=8.0))
    assert told.idle_s == {"left alone after faults": 4.0}


def test_the_store_is_told_now_and_then() -> None:
    clock = Clock()
    watched = DeviceTime(0, NOTHING_YET, clock)
    clock.now += 29.0
    assert not watched.due
    clock.now += 1.0
    assert watched.due
    watched.tell(NOTHING_YET)
    assert not watched.due


def test_a_pause_is_what_devices_wait_for() -> None:
    clock = Clock()
    watched = DeviceTime(0, NOTHING_YET, clock)
    clock.now += 8.0
    idle = replace(NOTHING_YET, idle_devices=1, compiling=1, offered_s=8.0)
    watched.look(idle, models_asked=True, paused=True)
    assert watched.tell(idle).idle_s == {"paused by a person": 8.0}
