"""Targets on logs made up for it: which ends a campaign, what it says, and how one goes on."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main as cli
from engine.cli.usage import UsageError, budget_change
from engine.config import parse_config
from engine.config_errors import ConfigError
from engine.preparation import stored_config
from engine.stopping.config import Stop
from engine.stopping.targets import lack_of_light, light_of_best, reached
from engine.stopping.watch import LOOK_EVERY_S, MORE_EVALUATIONS, TargetWatch
from engine.store.events import EpochStarted, Evaluated, Event, to_row
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.kinds.sessions import SessionFinished
from engine.store.replay import Replay, replay
from engine.store.store import Store, Stored
from tests.engine import campaign_log as log


def raced(number: int, speedup: float, **light: float) -> Evaluated:
    """A kernel of the search. light: its part of the speed of light by label."""
    evaluation = replace(log.evaluation(f"k{number}", speedup), speed_of_light=light)
    return Evaluated(evaluation=evaluation)


def won(number: int, speedup: float, ratio: float, rival: str = "seed") -> Contested:
    return Contested(
        number=number,
        kernel_id=f"k{number}",
        rival_id=rival,
        why="contender",
        outcome="won",
        ratio=(ratio, 0.9 * ratio, 1.1 * ratio),
        gains=dict.fromkeys(log.LABELS, 0.5),
        speedup=speedup,
        ci95=(0.9 * speedup, 1.1 * speedup),
        sittings=3,
    )


def barren(first: int, count: int, *, tuning: bool = False) -> list[Event]:
    return [
        Evaluated(evaluation=log.evaluation(f"b{first + n}", 0.5), tuning=tuning)
        for n in range(count)
    ]


def folded(*events: Event) -> Replay:
    campaign, *opening = log.opening(log.config(Path("runs")))
    whole = Replay(campaign)  # type: ignore[arg-type]
    for seq, event in enumerate([*opening, *events], start=2):
        whole.apply(Stored(seq, 1.8e9 + seq, event))
    return whole


def reason(whole: Replay, **stop: Any) -> str:
    found = reached(whole, Stop(**stop))
    return found.reason if found else ""


def test_nothing_is_waited_for_unless_it_is_set() -> None:
    assert reached(folded(raced(0, 99.0), won(0, 99.0, 99.0), *barren(0, 900)), Stop()) is None
    assert not Stop().ends_early
    assert Stop(plateau=1).ends_early


def test_a_speedup_counts_once_a_contest_has_shown_it() -> None:
    assert reason(folded(raced(0, 25.0)), speedup=20) == ""  # one race
    whole = folded(raced(0, 25.0), won(0, 20.3, 20.3))
    assert reason(whole, speedup=20) == "the target is reached: 20.30x, stop.speedup is 20"
    assert reason(whole, speedup=21) == ""
    found = reached(whole, Stop(speedup=20))
    assert found is not None and found.override == "stop.speedup=30"


def test_a_final_measurement_has_the_last_word() -> None:
    final = FinalMeasurement(
        number=0, kernel_id="k0", speedup=19.0, ci95=(18, 20), ci99=(17, 21), sittings=5
    )
    whole = folded(raced(0, 25.0), won(0, 20.3, 20.3), final)
    assert reason(whole, speedup=20) == ""


def test_the_speed_of_light_is_a_geometric_mean_over_the_shapes() -> None:
    light = dict(zip(log.LABELS, (0.81, 1.0), strict=True))
    whole = folded(raced(0, 9.0, **light), won(0, 9.0, 9.0))
    assert light_of_best(whole) == pytest.approx(0.9)
    assert reason(whole, speed_of_light=0.89).startswith(
        "the target is reached: 90.0% of the speed of light"
    )
    assert reason(whole, speed_of_light=0.91) == ""
    assert lack_of_light(whole, Stop(speed_of_light=0.9)) == ""


def test_a_speed_of_light_that_nobody_knows_is_said() -> None:
    lack = lack_of_light(folded(), Stop(speed_of_light=0.9))
    assert lack.startswith("stop.speed_of_light can't be told")
    assert lack_of_light(folded(), Stop(speedup=9)) == ""


def test_a_plateau_counts_evaluations_since_the_last_new_best() -> None:
    before: list[Event] = [raced(0, 9.0), won(0, 9.0, 9.0)]
    assert reason(folded(*before, *barren(0, 29)), plateau=30) == ""
    told = "no new best came in 30 evaluations, stop.plateau is 30"
    assert reason(folded(*before, *barren(0, 30)), plateau=30) == told
    # Idle time's are not counted, and a new best begins it anew.
    assert reason(folded(*before, *barren(0, 40, tuning=True)), plateau=30) == ""
    again = [*before, *barren(0, 30), raced(1, 10.0), won(1, 10.0, 1.1, "k0"), *barren(50, 10)]
    assert reason(folded(*again), plateau=30) == ""
    found = reached(folded(*before, *barren(0, 70)), Stop(plateau=30))
    assert found is not None and found.override == "stop.plateau=100"


def test_a_title_that_goes_back_is_no_new_best() -> None:
    rematch = Contested(
        number=1,
        kernel_id="k9",
        rival_id="k0",
        why="rematch",
        outcome="won",
        ratio=(1.1, 1.0, 1.2),
        speedup=8.0,
        sittings=3,
    )
    whole = folded(raced(0, 9.0), won(0, 9.0, 9.0), raced(9, 8.0), *barren(0, 30), rematch)
    assert whole.scores.barren == 31


def test_another_toolchain_begins_a_plateau_anew() -> None:
    chain = EpochStarted(number=1, anchor_id="seed")
    whole = folded(raced(0, 9.0), won(0, 9.0, 9.0), *barren(0, 30), chain, *barren(40, 5))
    assert whole.scores.barren == 5


# --- while it runs -------------------------------------------------------------------------------


def test_an_end_that_is_due_waits_for_contests_but_not_for_ever(tmp_path: Path) -> None:
    now = 0.0
    path = tmp_path / "short" / "store.sqlite"
    events = [*log.opening(log.config(tmp_path)), raced(0, 9.0), won(0, 9.0, 9.0)]
    log.write(path, events)
    watch = TargetWatch(Stop(speedup=5), path, clock=lambda: now)
    assert watch.look(contesting=1) == ""
    now += LOOK_EVERY_S
    assert watch.look(contesting=0).startswith("the target is reached")
    more = barren(0, MORE_EVALUATIONS)
    with Store(path) as store:
        store.append([to_row(event) for event in more])
    now += LOOK_EVERY_S
    assert watch.look(contesting=1).startswith("the target is reached")


def test_a_store_is_read_no_more_often_than_need_be(tmp_path: Path) -> None:
    watch = TargetWatch(Stop(), tmp_path / "nothing", clock=lambda: 0.0)
    assert watch.look(contesting=0) == "" and watch.lack() == ""


# --- going on ------------------------------------------------------------------------------------


def ended_campaign(folder: Path, **stop: Any) -> Path:
    settings = log.config(folder, final={"seconds": 0}, stop=stop)
    run_dir = folder / "short"
    end = SessionFinished(number=0, reason="the target is reached")
    log.write(
        run_dir / "store.sqlite", [*log.opening(settings), raced(0, 9.0), won(0, 9.0, 9.0), end]
    )
    return run_dir


def test_resuming_says_what_was_reached_and_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_dir = ended_campaign(tmp_path, speedup=5)
    for given, limit in (([], "5"), (["stop.speedup=8"], "8")):
        assert cli.main(["resume", str(run_dir), *given]) == 2
        [sentence] = capsys.readouterr().err.splitlines()
        assert f"the target is reached: 9.00x, stop.speedup is {limit}, so there is" in sentence
        assert sentence.endswith(" stop.speedup=14")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("stop.speedup=1", "stop.speedup: input should be greater than 1, not 1"),
        ("stop.speed_of_light=90", "input should be less than or equal to 1, not 90"),
        ("stop.plateau=soon", "stop.plateau: write a whole number"),
        ("stop.spedup=3", "stop.spedup is not a known key (did you mean speedup?)"),
        ("seed=3", "resume changes budgets, stop, ray, snapshots, llm.base_url"),
    ],
)
def test_a_bad_change_is_one_sentence(
    given: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["resume", str(ended_campaign(tmp_path, speedup=5)), given]) == 2
    [sentence] = capsys.readouterr().err.splitlines()
    assert told in sentence


def test_changes_are_of_budgets_unless_stop_is_named() -> None:
    assert budget_change("evaluations=2000") == ("budgets", "evaluations", 2000)
    assert budget_change("budgets.tokens=null") == ("budgets", "tokens", None)
    assert budget_change("stop.plateau=null") == ("stop", "plateau", None)
    assert budget_change("ray.address=auto") == ("ray", "address", "auto")
    assert budget_change("llm.base_url=http://a:1/v1") == ("llm", "base_url", "http://a:1/v1")
    with pytest.raises(UsageError, match=r"llm\.concurrency: resume changes"):
        budget_change("llm.concurrency=3")
    with pytest.raises(UsageError):
        budget_change("stop.plateau")


def test_what_a_resumption_changes_stays_and_the_rest_is_kept(tmp_path: Path) -> None:
    run_dir = ended_campaign(tmp_path, speedup=5, plateau=70)
    before = replay(run_dir / "store.sqlite")
    config = stored_config(before, run_dir, {"stop": {"speedup": 30}})
    assert (config.stop.speedup, config.stop.plateau) == (30, 70)
    with pytest.raises(ConfigError, match=r"stop\.speedup=0"):
        stored_config(before, run_dir, {"stop": {"speedup": 0}})


@pytest.mark.parametrize(
    "values",
    [{"speedup": 1.0}, {"speed_of_light": 1.5}, {"plateau": 0}, {"expected": 0}, {"when": 3}],
)
def test_a_bad_value_in_a_file_is_one_sentence(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"stop\."):
        parse_config({"task": "softmax", "stop": values}, where="test")
