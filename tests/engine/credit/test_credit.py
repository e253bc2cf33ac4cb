"""Tests of an island's credit: what it is told of, what it draws, and what a kill leaves of it."""

import math
from dataclasses import replace
from typing import Any

import pytest

from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from engine.credit.choices import AS_DEALT, choices_of
from engine.credit.credit import Credit, worth
from engine.credit.told import shares_text
from engine.report.credit import credit_of
from engine.store.events import CycleFinished, CycleStarted, Event, from_row, to_row
from engine.store.kinds.credit import Earned
from engine.store.kinds.sessions import CampaignStarted
from engine.store.replay import Replay
from engine.store.store import Stored
from scripts.credit.pair import NAMES, WINDOWS, Pair, part, settings
from tests.engine.islands.test_island import World, history


def config(**changes: Any) -> CampaignConfig:
    return parse_config({"task": "transpose", "tracking": "none", **changes}, where="test")


def started(cycle: int, operator: str, **drawn: str) -> CycleStarted:
    return CycleStarted(
        island=0, cycle=cycle, operator=operator, tournament=(), drawn=drawn, shares={}
    )


def finished(cycle: int, *earned: Earned, **asked: str) -> CycleFinished:
    return CycleFinished(island=0, cycle=cycle, asked=asked, earned=earned)


def kernel(gain: float | None, **changes: Any) -> Earned:
    return Earned(origin="mutation", gain=gain, over_best=gain, **changes)


def test_a_gain_is_worth_the_time_that_it_saves_for_sure() -> None:
    assert worth(math.log(2), 0.0) == pytest.approx(0.5)
    assert worth(math.log(2) + 0.1, 0.1) == pytest.approx(0.5)
    assert worth(0.05, 0.1) == worth(-1.0, 0.0) == worth(None, 0.0) == 0.0


def test_choices_are_those_with_several_arms() -> None:
    assert list(choices_of(config(), 0)) == ["operator"]
    assert choices_of(config(credit="off"), 0) == {}
    assert choices_of(config(operators=[{"kind": "random"}]), 0) == {}
    found = choices_of(settings(0), 0)
    assert list(found) == ["operator", "avenue", "writer and crossover and repair"]
    assert found["writer and crossover and repair"] == dict.fromkeys(NAMES, 1.0)
    assert found["avenue"][AS_DEALT] == 10


def test_roles_whose_model_the_operators_name_have_no_choice() -> None:
    mix = {"kind": "llm", "models": {"writer": "first"}}
    assert "crossover and repair" in choices_of(settings(0, operators=[mix]), 0)


def test_cycles_that_end_in_another_order_are_credited_to_their_own_operators() -> None:
    credit = Credit(config(), 0)
    credit.begin(started(1, "tuning"))
    credit.begin(started(2, "crossover"))
    credit.take(finished(2, kernel(None)))
    credit.take(finished(1, kernel(0.5)))
    rates = credit.rates["operator"]
    assert rates["tuning"] > 1 > rates["crossover"]


def test_a_cycle_that_found_nothing_cost_as_much_as_a_kernel() -> None:
    credit = Credit(config(), 0)
    for cycle in (1, 3, 5):
        credit.begin(started(cycle, "tuning"))
        credit.take(finished(cycle, kernel(0.5)))
        credit.begin(started(cycle + 1, "mutation"))
        credit.take(finished(cycle + 1))
    assert credit.rates["operator"]["mutation"] < 0.7


def test_a_model_is_credited_with_what_it_wrote_alone() -> None:
    credit = Credit(settings(0), 0)
    for cycle in range(1, 6):
        credit.begin(started(cycle, "experiment"))
        good = kernel(0.5, role="writer", model="first")
        bad = kernel(None, role="repair", model="second")
        credit.take(finished(cycle, good, bad))
    rates = credit.rates["writer and crossover and repair"]
    assert rates["first"] > 1 > rates["second"]
    credit.hear(kernel(0.9, role="writer", model="second"))
    assert credit.rates["writer and crossover and repair"]["second"] > rates["second"]


def test_lines_that_gain_come_sooner() -> None:
    credit = Credit(config(), 0)
    for cycle in range(1, 6):
        credit.begin(started(cycle, "tuning"))
        credit.take(finished(cycle, kernel(0.5, line="good"), kernel(None, line="poor")))
    factors = credit.lines({"x": "good", "y": "poor", "z": "new"})
    assert factors["x"] > 1 > factors["y"] and "z" not in factors
    assert Credit(config(credit="off"), 0).lines({"x": "good"}) == {}


@pytest.mark.parametrize(
    ("credit", "said"),
    [
        ("some", "write on, off, or floor and half_life, not 'some'"),
        ({"floor": 2}, "credit.floor"),
        ({"half_life": 0}, "credit.half_life"),
    ],
)
def test_a_bad_section_is_told_in_a_sentence(credit: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        config(credit=credit)


def test_what_is_decided_is_told_in_a_line() -> None:
    shares = {
        "operator": {"tuning": 0.55, "experiment": 0.3, "crossover": 0.15, "mutation": 0.0},
        "writer": {"strong": 0.93, "fast": 0.07},
    }
    assert shares_text(shares) == (
        "tuning 55%, experiment 30%, crossover 15%; writer: strong 93%, fast 7%"
    )
    assert shares_text({}) == ""


def replayed(log: list[Event]) -> Replay:
    whole = Replay(CampaignStarted(config={}, task_hash="t", baseline_id="b"))
    for number, event in enumerate(log):
        whole.apply(Stored(number, 0.0, event))
    return whole


def test_the_report_counts_what_each_arm_gained() -> None:
    shares = {"operator": {"tuning": 0.8, "mutation": 0.2}}
    log: list[Event] = []
    for cycle, operator in enumerate(("tuning", "tuning", "mutation"), start=1):
        one = started(cycle, operator)
        log.append(replace(one, drawn={"operator": operator}, shares=shares))
        gain = math.log(2) if operator == "tuning" else None
        log.append(finished(cycle, kernel(gain, seconds=30.0)))
    mutation, tuning = credit_of(replayed(log))
    assert (tuning.kernels, tuning.per_kernel, tuning.per_minute) == (2, 0.5, 1.0)
    assert (mutation.kernels, mutation.gained, mutation.per_dollar) == (1, 0.0, None)
    assert tuning.shares == pytest.approx((0.8, 0.8, 0.8))


def test_events_are_read_as_they_were_written() -> None:
    event = finished(
        3, kernel(0.25, role="writer", model="first", predicted=(1.0, 2.0)), writer="a"
    )
    kind, _, _, _, body = to_row(event)
    assert from_row(kind, body) == event


def test_a_killed_campaign_draws_what_it_would_have_drawn() -> None:
    whole = World(budget=60, islands={"cycles_in_flight": 1})
    whole.run()
    starts = [event for event in whole.log if isinstance(event, CycleStarted)]
    assert len({event.operator for event in starts}) > 2
    assert any(event.shares["operator"] != starts[0].shares["operator"] for event in starts)
    for kept in range(5, len(whole.log), 61):
        resumed = World(budget=10, earlier=whole.log[:kept], islands={"cycles_in_flight": 1})
        resumed.run()
        again = [event for event in resumed.log if isinstance(event, CycleStarted)]
        both = min(len(again), len(starts))
        assert again[:both] == starts[:both]


def test_history_is_folded_as_it_was_lived() -> None:
    whole = World(budget=40)
    whole.run()
    resumed = World(budget=0, earlier=whole.log)
    assert resumed.island._cycles.credit.rates == whole.island._cycles.credit.rates
    assert history(whole.log)


def test_of_a_good_and_a_useless_model_the_good_one_is_asked() -> None:
    found = [Pair(settings(seed)).run() for seed in range(3)]
    for window in WINDOWS:
        assert sum(part(one.asked, window) for one in found) / 3 >= 0.8


def test_without_credit_models_are_dealt() -> None:
    one = Pair(settings(0, islands={"count": 1}, credit="off")).run()
    assert set(one.asked) == {""}
