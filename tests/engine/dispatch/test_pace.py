"""How many compile workers the measured rates ask for, and what bounds a campaign."""

import pytest

from engine.dispatch.pace import Pace


def measured(compile_s: float, measure_s: float, *, lanes: int = 2, most: int = 30) -> Pace:
    pace = Pace(lanes=lanes, most_workers=most)
    for _ in range(100):
        pace.took("compile", compile_s)
        pace.took("measure", measure_s)
    return pace


@pytest.mark.parametrize(
    ("compile_s", "measure_s", "workers", "bound"),
    [
        (0.1, 0.2, 3, "device"),
        (0.1, 0.02, 16, "device"),
        (1.5, 0.2, 24, "device"),
        (1.5, 0.02, 30, "compile"),
    ],
)
def test_workers_follow_the_rates(
    compile_s: float, measure_s: float, workers: int, bound: str
) -> None:
    pace = measured(compile_s, measure_s)
    assert pace.workers == workers
    assert pace.bound(waiting=True) == bound
    assert pace.bound(waiting=False) == "asking"


def test_the_latest_rates_count() -> None:
    pace = measured(1.5, 0.02)
    for _ in range(200):
        pace.took("measure", 2.0)
    assert pace.workers < 6
    assert pace.bound(waiting=True) == "device"


def test_before_anything_is_known() -> None:
    pace = Pace(lanes=4, most_workers=3)
    assert pace.workers == 3
    assert pace.bound(waiting=True) == ""
    assert pace.latencies() == {}


def test_latencies() -> None:
    pace = Pace(lanes=1, most_workers=1)
    for milliseconds in range(1, 101):
        pace.took("commit", milliseconds / 1e3)
    assert pace.latencies() == {"commit": (0.051, 0.096)}
