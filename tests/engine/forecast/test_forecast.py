"""Forecasts: what they go by, which budget ends first, how it is said."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.cli.left import ending_text
from engine.config import CampaignConfig, parse_config
from engine.config_sections import OperatorMix
from engine.forecast.calls import calls_by_structure
from engine.forecast.forecast import Forecast, forecast
from engine.forecast.ranges import Range, amount, exact, only
from engine.forecast.records import MeanSizes, Record, earlier_campaigns, shipped
from engine.forecast.sizes import Sizes
from engine.stopping.rates import evaluations_paid, lasting_text
from engine.store.budget import Left, left
from engine.store.spending import CallBudget, Spending
from operators.llm.question import PARTS, Part, Role

FIRST: dict[Part, int] = {
    "selector": 1200,
    "designer": 2700,
    "writer": 3700,
    "crossover": 3800,
    "repair": 3700,
    "distiller": 4000,
    "prober": 3000,
}
MANY = 1_000_000
"""Evaluations of a record that leave nothing to chance."""


def config(**changes: Any) -> CampaignConfig:
    values = {
        "task": "softmax",
        "operators": [{"kind": "llm", "mutation": 0}],
        "llm": {
            "models": {
                "main": {
                    "model": "m",
                    "dollars_per_million_prompt": 3,
                    "dollars_per_million_completion": 15,
                }
            }
        },
    }
    return parse_config({**values, **changes}, where="test")


def made(records: list[Record] | None = None, **left: Any) -> Forecast:
    return of(config(findings={"every": 0}), records, **left)


def of(
    config: CampaignConfig, records: list[Record] | None = None, *, probes: int = 0, **left: Any
) -> Forecast:
    return forecast(config, Left(**left), FIRST, records or [], probes=probes)


def record(calls: float, **changes: Any) -> Record:
    """Writers alone, so many calls an evaluation."""
    values: dict[str, Any] = {
        "name": "before",
        "sizes": {("writer", "m"): MeanSizes(prompt=5000, completion=1000)},
        "calls": {"writer": calls},
        "evaluations": MANY,
        "probing": None,
        "operators": config().model_dump(mode="json")["operators"],
        **changes,
    }
    return Record(**values)


def usual(mix: OperatorMix, *, credit: bool = False) -> Mapping[Role, float]:
    return calls_by_structure(mix, shipped().courses["usual"], credit=credit)


def test_a_cycle_of_the_paper_asks_five_times_for_three_kernels() -> None:
    mix = OperatorMix(kind="llm", mutation=0, crossover=0)
    known, course, calls = shipped(), shipped().courses["usual"], usual(mix)
    evaluations = 3 * course.judged * (1 + known.failed)
    assert calls["writer"] == pytest.approx(3 * course.again / evaluations)
    assert calls["writer"] == pytest.approx(3 * calls["selector"])
    assert calls["designer"] == pytest.approx(calls["selector"] * (1 + course.redesigned))
    assert calls["crossover"] == 0


def test_a_crossover_asks_no_selector_and_no_designer() -> None:
    crossing = usual(OperatorMix(kind="llm", experiment=0, crossover=1, mutation=0))
    assert crossing["selector"] == crossing["designer"] == crossing["writer"] == 0
    assert crossing["crossover"] > 1


def test_mutations_make_evaluations_cheap_and_best_of_n_asks_no_selector() -> None:
    plain = usual(OperatorMix(kind="llm", mutation=0))
    mutating = usual(OperatorMix(kind="llm", mutation=40))
    assert sum(mutating.values()) < sum(plain.values()) / 2
    alone = OperatorMix(kind="llm", base="seed", crossover=0, mutation=0)
    assert usual(alone)["selector"] == 0


def test_credit_may_ask_for_more_mutations_than_the_weights_say() -> None:
    mix, few = OperatorMix(kind="llm"), shipped().courses["few"]
    fixed = calls_by_structure(mix, few, credit=False)
    drawn = calls_by_structure(mix, few, credit=True)
    assert drawn["writer"] < fixed["writer"]


def test_islands_of_mutations_alone_ask_nobody() -> None:
    mutating = config(operators=[{"kind": "llm", "experiment": 0, "crossover": 0, "mutation": 1}])
    found = of(mutating, evaluations=100, calls=50)
    assert found.first == "evaluations"
    assert set(found.by_part) == {"distiller"}


def test_by_records_it_is_simple_arithmetic() -> None:
    found = made([record(2.0)], evaluations=100, dollars=50.0)
    assert found.calls.likely == pytest.approx(200)
    assert found.tokens.likely == pytest.approx(200 * 6000)
    assert found.dollars is not None
    assert found.dollars.likely == pytest.approx(200 * (5000 * 3 + 1000 * 15) / 1e6)
    assert (found.first, found.certain) == ("evaluations", True)
    assert found.sentence == (
        "100 evaluations will take about 200 calls (170 to 240), 1.2 M tokens (930,000 to 1.6 M), "
        "6 dollars (4.6 to 7.8) of 50 dollars: evaluations end first; of the calls writer 200; "
        "by what before took"
    )


def test_the_budget_that_ends_first_is_named() -> None:
    found = made([record(2.0)], evaluations=1000, dollars=6.0)
    assert (found.first, found.certain) == ("dollars", True)
    assert found.evaluations.likely == pytest.approx(100)
    assert found.sentence.startswith("6 dollars will buy about 100 evaluations (77 to 130), with ")
    assert "dollars end first" in found.sentence
    close = made([record(2.0)], evaluations=100, dollars=7.0)
    assert "evaluations probably end first" in close.sentence
    assert made([record(2.0)], evaluations=100, calls=20).first == "calls"
    assert made([record(2.0)], evaluations=100, tokens=60_000).first == "tokens"


def test_a_budget_that_pays_for_less_than_the_last_distillation_buys_nothing() -> None:
    distilling = config(findings={"every": 10})
    found = of(distilling, [record(2.0)], evaluations=100, calls=1)
    assert (found.evaluations.low, found.first) == (0.0, "calls")
    assert "1 calls will buy about 0 evaluations" in found.sentence


def test_without_a_bound_on_evaluations_it_tells_of_a_hundred() -> None:
    assert made([record(2.0)]).sentence.startswith("100 evaluations will take about 200 calls")


def test_several_records_widen_the_range_and_others_operators_count_for_sizes_alone() -> None:
    several = made([record(1.0), record(3.0)], evaluations=100)
    assert several.calls.low < 100 and several.calls.high > 300
    other = record(50.0, operators=[{"kind": "llm", "mutation": 9}])
    found = made([other], evaluations=100)
    assert found.calls.likely < 1000
    assert "whose operators differ" in found.sentence


def test_unknown_replies_lie_between_recorded_ones_and_what_the_model_may_write() -> None:
    found = made(evaluations=100)
    assert found.tokens.high / found.tokens.low > 2
    assert "a model that does may take up to max_tokens a call" in found.sentence


def test_prompts_of_the_seed_alone_do_not_grow() -> None:
    asked: dict[Part, Range] = {"writer": only(1.0)}
    plain = {"kind": "llm", "crossover": 0, "mutation": 0}
    seed, evolving = (
        Sizes(
            config=config(operators=[{**plain, "base": base}]), first_prompts=FIRST, records=[]
        ).tokens(asked)
        for base in ("seed", "selected")
    )
    assert evolving.likely - seed.likely == pytest.approx(FIRST["writer"] * 0.6)


def test_models_without_prices_cost_nothing() -> None:
    free = config(llm={"models": {"main": {"model": "m"}}})
    found = of(free, evaluations=100)
    assert found.dollars is None and "dollars" not in found.sentence


def test_islands_that_ask_nobody_take_their_share() -> None:
    half = config(operators=[{"kind": "llm"}, {"kind": "catalog"}], findings={"every": 0})
    whole = config(operators=[{"kind": "llm"}], findings={"every": 0})
    calls = [of(one, evaluations=100).calls for one in (half, whole)]
    assert calls[0].likely == pytest.approx(calls[1].likely / 2)
    assert calls[0].high / calls[0].low > calls[1].high / calls[1].low


def test_distillations_are_counted_and_the_last_is_of_what_is_left() -> None:
    often, never = (config(findings={"every": every}) for every in (10, 0))
    calls = [of(one, evaluations=100).calls for one in (often, never)]
    assert calls[0].likely - calls[1].likely == pytest.approx(10)
    assert [of(often, evaluations=n).by_part["distiller"].likely for n in (9, 11)] == [1, 2]


def test_probes_that_designers_may_ask_for_are_calls() -> None:
    asking, silent = (of(config(), probes=probes, evaluations=200) for probes in (12, 0))
    probed = asking.by_part["prober"]
    assert "prober" not in silent.by_part
    assert probed.low == 0 and 0 < probed.likely < 12 <= probed.high
    assert asking.calls.high == pytest.approx(silent.calls.high + probed.high)
    assert "prober 7" in asking.sentence


def test_a_design_asks_for_two_probes_at_most() -> None:
    few = of(config(), probes=1000, evaluations=10).by_part
    assert few["prober"].high <= 2 * few["designer"].high * shipped().courses["many"].again


def test_islands_that_see_nothing_of_the_search_ask_for_no_probe() -> None:
    seed = [{"kind": "llm", "base": "seed", "crossover": 0, "mutation": 0}]
    assert "prober" not in of(config(operators=seed), probes=12, evaluations=100).by_part


def test_probes_are_asked_for_as_often_as_before() -> None:
    before = replace(record(1.0), calls={"writer": 1.0, "designer": 0.3})
    never, always = (
        of(config(), [replace(before, probing=share)], probes=12, evaluations=100)
        for share in (0.0, 1.0)
    )
    assert "prober" not in never.by_part
    assert always.by_part["prober"].likely == pytest.approx(12 * 1.16)


def test_the_first_cycles_of_islands_ask_no_selector() -> None:
    waiting, asking = (
        config(operators=[{"kind": "llm", "mutation": 0, "select_from": count}]) for count in (2, 1)
    )
    calls = [of(one, evaluations=100).by_part["selector"] for one in (waiting, asking)]
    assert calls[0].likely < calls[1].likely and calls[0].high == calls[1].high


def test_a_record_of_few_evaluations_leaves_more_open() -> None:
    short, long = (
        made([record(2.0, evaluations=count)], evaluations=100).calls for count in (16, 400)
    )
    assert short.likely == long.likely == pytest.approx(200)
    assert short.low < long.low and long.high < short.high


def test_a_model_that_credit_may_choose_alone_bounds_the_dollars() -> None:
    models = {
        name: {"model": name, "dollars_per_million_prompt": price}
        for name, price in (("cheap", 1), ("dear", 10))
    }
    sizes = {("writer", name): MeanSizes(prompt=1000, completion=100) for name in models}
    both = config(
        findings={"every": 0}, llm={"models": models, "roles": {"writer": ["cheap", "dear"]}}
    )
    found = of(both, [record(1.0, sizes=sizes)], evaluations=1000).dollars
    assert found is not None
    assert found.likely == pytest.approx(5.5)
    assert found.low < 1 and found.high > 10


def test_a_folder_without_campaigns_tells_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "store.sqlite"
    broken.parent.mkdir()
    broken.write_text("this is no store")
    assert earlier_campaigns(tmp_path, ["m"]) == []
    assert earlier_campaigns(tmp_path / "nowhere", ["m"]) == []


def test_what_is_shipped_tells_of_every_role() -> None:
    known = shipped()
    for figures in (known.prompt_growth, known.completion, known.terse):
        assert set(figures) == set(PARTS)
    assert all(known.terse[part] <= known.completion[part] for part in PARTS)


# --- ranges --------------------------------------------------------------------------------------


def test_two_ranges_multiply_as_independent_errors_do() -> None:
    both = Range.about(10, 2).and_by(Range.about(5, 1))
    assert (both.likely, both.low, both.high) == pytest.approx((50, 25, 100))
    assert Range.about(10, 2).and_by(Range.about(5, 2)).high < 200
    assert only(0).and_by(Range.about(5, 2)).told == (0, 0, 0)


def test_parts_that_err_together_are_added_and_a_range_holds_others() -> None:
    parts = [Range.about(10, 2), Range.about(30, 3)]
    assert Range.sum(parts).told == pytest.approx((40, 15, 110))
    assert Range.around(parts).told == pytest.approx((20, 5, 90))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.376, "0.38"), (38.4, "38"), (1312, "1,300"), (12_400_000, "12 M"), (7.6, "7.6")],
)
def test_figures_have_two_digits(value: float, text: str) -> None:
    assert amount(value) == text


def test_budgets_are_told_as_they_were_set() -> None:
    assert [exact(value) for value in (1234, 0.5, 12_500_000)] == ["1,234", "0.5", "12.5 M"]


# --- at the rate so far --------------------------------------------------------------------------


def spending(calls: int, tokens: int, dollars: float) -> Spending:
    return Spending(
        calls=calls,
        tokens=tokens,
        dollars=dollars,
        in_flight=0,
        replies=calls,
        lost=0,
        failures={},
    )


def test_what_is_left_lasts_at_the_rate_so_far() -> None:
    spent = spending(200, 600_000, 4.0)
    budget = CallBudget(dollars=13.2, calls=5000)
    rest = left(evaluations=300, wall_time_s=None, calls=spent, budget=budget)
    paid = evaluations_paid(rest, asked=100, searched_s=None, calls=spent)
    assert paid == pytest.approx({"evaluations": 300, "dollars": 230, "calls": 2400})
    told = "at this rate the dollars last for 230 more evaluations"
    assert lasting_text(rest, asked=100, calls=spent) == told


def test_where_evaluations_end_first_or_nothing_is_known_nothing_is_said() -> None:
    spent = spending(200, 600_000, 4.0)
    rest = left(evaluations=30, wall_time_s=None, calls=spent, budget=CallBudget(dollars=13.2))
    assert lasting_text(rest, asked=100, calls=spent) == ""
    assert lasting_text(rest, asked=3, calls=spent) == ""
    assert lasting_text(Left(), asked=100, calls=None) == ""
    rest = Left(evaluations=30, calls=60)
    assert ending_text(rest, 0.5, "") == "30 evaluations, 60 calls; ends in about 60 s"
    assert ending_text(Left(evaluations=0, calls=60), 0.5, "") == "0 evaluations, 60 calls"
    told = "at this rate the calls last for 15 more evaluations"
    assert ending_text(rest, 0.5, told) == f"30 evaluations, 60 calls; {told}"
