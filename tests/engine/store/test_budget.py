"""What budgets count, when one is spent, and the command that goes on all the same."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main as cli
from engine.store.budget import Spent, spent
from engine.store.events import Evaluated
from engine.store.kinds.sessions import SearchStarted, SessionFinished, SessionStarted
from engine.store.replay import Replay, replay
from engine.store.store import Stored
from engine.store.summary import summarise
from engine.tracking.samples import Point, Sampler
from tests.engine import campaign_log as log


def session(number: int, began_at: float, **changes: Any) -> SessionStarted:
    return SessionStarted(
        number=number,
        began_at=began_at,
        budgets={},
        device=log.DEVICE,
        device_class="cpu/test",
        devices=1,
        **{"start_counts": False, **changes},
    )


def folded(*events: tuple[float, Any]) -> Replay:
    """A campaign's log, each event with the second at which it was stored."""
    campaign, *_ = log.opening(log.config(Path("runs")))
    whole = Replay(campaign)  # type: ignore[arg-type]
    for seq, (at, event) in enumerate(events, start=2):
        whole.apply(Stored(seq, at, event))
    return whole


def seed_at(at: float) -> tuple[float, Any]:
    return at, Evaluated(evaluation=log.evaluation("seed", 1.0), verified=True)


def test_wall_time_is_that_of_the_search_alone() -> None:
    whole = folded(
        (130.0, session(0, 100.0)),
        seed_at(145.0),
        (150.0, SearchStarted(number=0)),
        (180.0, SessionFinished(number=0, reason="interrupted")),
        (240.0, session(1, 200.0)),  # killed as it started
    )
    assert (whole.elapsed_s, whole.searched_s) == (120.0, 30.0)
    assert spent(whole, {"wall_time_s": 31.0}) is None
    over = spent(whole, {"evaluations": 400, "wall_time_s": 30.0})
    assert over == Spent(name="wall_time_s", limit=30.0, used=30.0, of_calls=False)


def test_a_store_of_before_counted_the_start_too() -> None:
    started = session(0, 100.0, start_counts=True)
    whole = folded((130.0, started), (180.0, SessionFinished(number=0, reason="interrupted")))
    assert whole.searched_s == whole.elapsed_s == 80.0


@pytest.mark.parametrize(
    ("limit", "used", "told"),
    [(10, 10, "10=20"), (2, 9, "2=11"), (0.25, 0.3, "0.25=0.55"), (1e6, 1e6, "1e6=2000000")],
)
def test_the_command_that_goes_on_has_room_to_do_so(limit: float, used: float, told: str) -> None:
    over = Spent(name="evaluations", limit=limit, used=used, of_calls=False)
    assert over.override == f"budgets.evaluations={told.partition('=')[2]}"
    assert float(over.override.partition("=")[2]) > used


@pytest.mark.parametrize("given", [[], ["evaluations=3"], ["budgets.evaluations=4"]])
def test_resuming_a_spent_campaign_is_refused_with_the_command_that_does_something(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_dir = tmp_path / "short"
    settings = log.config(tmp_path, budgets={"evaluations": 4}, final={"seconds": 0})
    log.write(run_dir / "store.sqlite", [*log.opening(settings), *log.middle()])
    assert cli.main(["resume", str(run_dir), *given]) == 2
    [sentence] = capsys.readouterr().err.splitlines()
    limit = given[0][-1] if given else "4"
    assert f"the budget of {limit} evaluations is spent" in sentence
    assert "kernel-scientist resume " in sentence
    assert sentence.endswith(f" budgets.evaluations={'8' if limit == '4' else '7'}")
    # It was killed after its last evaluation: its result is told all the same.
    assert json.loads((run_dir / "summary.json").read_text())["evaluations"]["total"] == 4
    assert (run_dir / "best.hip").read_text().endswith("// wide\n")
    assert not (tmp_path / "short" / "ray.log").exists()


def idle(number: int, began_at: float) -> list[tuple[float, Any]]:
    return [
        (began_at + 30.0, session(number, began_at)),
        (began_at + 31.0, SearchStarted(number=number)),
        (began_at + 60.0, SessionFinished(number=number, reason="interrupted")),
    ]


def working() -> list[tuple[float, Any]]:
    return [
        (110.0, session(0, 100.0)),
        seed_at(120.0),
        (120.0, SearchStarted(number=0)),
        (140.0, SessionFinished(number=0, reason="interrupted")),
    ]


def test_a_session_that_evaluates_nothing_leaves_the_summary_as_it_was() -> None:
    before = summarise(folded(*working()), Path("runs/short"))
    after = summarise(folded(*working(), *idle(1, 1000.0)), Path("runs/short"))
    assert before.evaluations_per_s == after.evaluations_per_s == 1 / 40
    assert before.device_busy_fraction == after.device_busy_fraction > 0
    assert after.resumed and after.elapsed_s > before.elapsed_s


def test_a_session_that_evaluates_nothing_leaves_the_metrics_as_they_were() -> None:
    settings = log.config(Path("runs"))
    campaign, *_ = log.opening(settings)
    sampler = Sampler(Replay(campaign), settings)  # type: ignore[arg-type]
    events = [*working(), *idle(1, 1000.0)]
    points: list[Point] = []
    for seq, (at, event) in enumerate(events, start=2):
        points += sampler.feed(Stored(seq, at, event))
    for name in ("evaluations_per_s", "device_busy_fraction"):
        values = [point.value for point in points if point.name == name]
        assert values and min(values) > 0


def test_a_campaign_that_was_killed_as_it_started_can_be_resumed(tmp_path: Path) -> None:
    campaign, *_ = log.opening(log.config(tmp_path))
    log.write(tmp_path / "short" / "store.sqlite", [campaign])
    whole = replay(tmp_path / "short" / "store.sqlite")
    assert (whole.ended, whole.searched_s) == ("killed", 0.0)
    assert spent(whole, whole.budgets) is None
