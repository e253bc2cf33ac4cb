"""Best so far against what was spent, and the area under it."""

import math
from pathlib import Path

import pytest

from engine.history.history import History, read_history
from engine.history.trajectory import AXES, Moment, Trajectory
from engine.store.events import Event
from engine.store.kinds.contests import FinalMeasurement
from engine.store.kinds.sessions import DevicesWatched
from engine.store.scoreboard import Best
from engine.store.store import StoreError
from tests.engine import campaign_log as log


def history(folder: Path, *more: Event) -> History:
    path = folder / "short" / "store.sqlite"
    log.write(path, [*log.opening(log.config(folder)), *log.middle(), *more])
    return read_history(path)


def moment(speedup: float, evaluations: int, *, kernel_id: str = "", final: bool = False) -> Moment:
    best = Best(kernel_id=kernel_id or str(speedup), speedup=speedup, ci95=None, final=final)
    return Moment(
        seq=evaluations,
        at=0.0,
        best=best,
        evaluations=evaluations,
        device_s=0.5 * evaluations,
        searched_s=0.0,
        dollars=0.0,
        tokens=0,
    )


CURVE = Trajectory(
    moments=(moment(1.0, 1), moment(2.0, 5), moment(4.0, 10)),
    searched=moment(4.0, 20, kernel_id="4.0"),
    end=moment(4.0, 20, kernel_id="4.0"),
)


def test_a_log_gives_a_moment_for_each_best(tmp_path: Path) -> None:
    found = history(tmp_path).trajectory
    assert [one.best.speedup for one in found.moments if one.best] == [1.0, 3.0, 6.0]
    assert [one.evaluations for one in found.moments] == [1, 2, 4]
    assert [one.device_s for one in found.moments] == [0.25, 0.5, 1.0]
    assert found.end.evaluations == 4


def test_the_best_at_an_amount_is_the_last_one_paid_for_with_it() -> None:
    spent = (0, 1, 4.9, 5, 9, 10, 1000)
    assert [CURVE.best_at("evaluations", one) for one in spent] == [1, 1, 1, 2, 2, 4, 4]
    assert CURVE.best_at("device_s", 2.5) == 2.0
    assert CURVE.best_at("dollars", 0.0) == 4.0  # nothing of it cost a cent


def test_the_area_is_the_mean_of_the_logarithm() -> None:
    by_hand = (4 * 0 + 5 * math.log(2) + 10 * math.log(4)) / 20
    assert CURVE.log_area("evaluations", 20) == pytest.approx(by_hand + math.log(1) / 20)
    assert CURVE.log_area("device_s", 10) == pytest.approx(by_hand)
    assert CURVE.log_area("evaluations", 5) == 0.0
    assert CURVE.log_area("dollars", 0.0) == 0.0


def test_the_best_of_all_counts_as_it_was_measured_at_the_end(tmp_path: Path) -> None:
    final = FinalMeasurement(
        number=0, kernel_id="wide", speedup=5.0, ci95=(4.8, 5.2), ci99=(4.7, 5.3), sittings=3
    )
    found = history(tmp_path, final).trajectory
    assert [value for _, value in found.steps("evaluations")] == [1.0, 3.0, 5.0]
    assert len(found.moments) == 3  # the measurement is no step of the search
    assert found.end.best is not None and found.end.best.final


def test_a_session_says_what_its_devices_did_in_its_last_word(tmp_path: Path) -> None:
    told = [
        DevicesWatched(number=0, count=count, busy_s={"candidates": count}, idle_s={})
        for count in range(3)
    ]
    assert history(tmp_path, *told).devices == {0: told[-1]}


def test_what_is_no_campaign_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x" / "store.sqlite"
    log.write(path, list(log.middle()))
    with pytest.raises(StoreError, match="holds no campaign"):
        read_history(path)
    with pytest.raises(StoreError, match="no such store"):
        read_history(tmp_path / "y" / "store.sqlite")


def test_every_axis_is_a_figure_of_a_moment() -> None:
    assert [CURVE.end.spent(axis) for axis in AXES] == [20.0, 10.0, 0.0]
