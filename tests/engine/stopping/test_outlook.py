"""What is still expected: by the steps of a search with a known law, and by predictions."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.stopping.config import Stop
from engine.stopping.outlook import (
    LEAST_EVALUATIONS,
    Predicted,
    further_gain,
    held_part,
    outlook,
    predicted_gain,
)
from engine.stopping.targets import reached
from engine.store.events import Drafted, Evaluated, Event
from engine.store.replay import Replay
from engine.store.store import Stored
from evaluators.evaluation import Evaluation
from operators.individual import Experiment
from tests.engine import campaign_log as log
from tests.engine.stopping.test_targets import barren, raced, won


def steps_of(levels: list[float]) -> list[tuple[int, float]]:
    """Records of a sequence, as a campaign keeps them."""
    best, steps = 0.0, []
    for at, level in enumerate(levels, start=1):
        if level > best:
            steps.append((at, level - best))
            best = level
    return steps


def test_records_of_chance_come_as_often_as_is_expected() -> None:
    """Kernels without memory, their logarithms exponential: each record brings 1 on average, and
    ln 2 of them come while the number of tries doubles."""
    draw = np.random.default_rng(0)
    found, came = [], []
    for _ in range(400):
        levels = list(draw.exponential(size=400))
        gain, _ = further_gain(steps_of(levels[:200]), 200, 200)
        found.append(gain)
        came.append(max(levels) - max(levels[:200]))
    assert np.mean(came) == pytest.approx(math.log(2), rel=0.15)
    assert np.mean(found) == pytest.approx(math.log(2), rel=0.15)


def test_the_error_covers_what_comes_two_times_in_three() -> None:
    draw = np.random.default_rng(1)
    inside = []
    for _ in range(300):
        levels = list(draw.exponential(size=400))
        gain, error = further_gain(steps_of(levels[:200]), 200, 200)
        inside.append(max(levels) - max(levels[:200]) <= gain + error)
    assert np.mean(inside) > 0.6


def test_old_steps_fade_and_less_left_brings_less() -> None:
    early, late = [(10, 0.7)], [(10, 0.7), (390, 0.1)]
    assert further_gain(early, 400, 100)[0] < further_gain(late, 400, 100)[0]
    assert further_gain(late, 400, 10)[0] < further_gain(late, 400, 400)[0]
    assert further_gain([], 400, 100) == (0.0, 0.0)
    assert further_gain(late, 400, 0) == (0.0, 0.0)


# --- predictions ---------------------------------------------------------------------------------


def predictions(count: int, *, told: float, brought: float, base: str = "k0") -> list[Event]:
    """Experiments on a Base of 9x, each with its promise in percent and its gain as a factor."""
    events: list[Event] = []
    for number in range(count):
        kernel_id = f"e{number}"
        experiment = Experiment(
            technique="t",
            description="",
            rubric="",
            performance=(told, told),
            innovation=0,
        )
        events += [
            Drafted(
                island=0,
                cycle=number + 1,
                slot=0,
                kernel_id=kernel_id,
                candidate=log.candidate(kernel_id),
                origin="experiment",
                parents=(base,),
                experiment=experiment,
            ),
            Evaluated(evaluation=_gaining(kernel_id, 9.0 * brought)),
        ]
    return events


def _gaining(kernel_id: str, speedup: float) -> Evaluation:
    return replace(
        log.evaluation(kernel_id, speedup), gains=dict.fromkeys(log.LABELS, math.log(speedup))
    )


def folded(*events: Event, evaluations: int = 400) -> Replay:
    settings = log.config(Path("runs"), budgets={"evaluations": evaluations})
    campaign, *opening = log.opening(settings)
    whole = Replay(campaign)  # type: ignore[arg-type]
    for seq, event in enumerate([*opening, *events], start=2):
        whole.apply(Stored(seq, 1.8e9 + seq, event))
    return whole


BEST: list[Event] = [Evaluated(evaluation=_gaining("k0", 9.0)), won(0, 9.0, 9.0)]


def test_what_was_measured_shrinks_what_is_predicted() -> None:
    made = [Predicted(base=0.0, gain=0.2, measured=0.1), Predicted(base=0.0, gain=0.2, measured=0)]
    assert held_part(made) == pytest.approx(0.25)
    assert held_part([]) == 1.0
    assert held_part([Predicted(base=0.0, gain=0.2, measured=-0.3)]) == 0.0


def test_designers_who_hold_what_they_promise_are_believed() -> None:
    whole = folded(*BEST, *predictions(20, told=10.0, brought=1.1))
    assert predicted_gain(whole, 5) == pytest.approx(5 * math.log(1.1), rel=0.01)
    assert predicted_gain(whole, 0) == 0.0


def test_designers_who_promise_and_bring_nothing_are_not() -> None:
    whole = folded(*BEST, *predictions(20, told=40.0, brought=0.8))
    assert predicted_gain(whole, 100) == 0.0


# --- the end -------------------------------------------------------------------------------------


def test_it_is_too_early_to_say_anything_of_few_evaluations() -> None:
    assert outlook(folded(*BEST, *barren(0, LEAST_EVALUATIONS - 3))) is None
    assert outlook(folded(*BEST, *barren(0, LEAST_EVALUATIONS))) is not None


def test_a_search_that_came_to_rest_ends_and_says_what_was_expected() -> None:
    whole = folded(*BEST, *barren(0, 390))
    found = reached(whole, Stop(expected=1))
    assert found is not None
    assert found.reason.startswith("what is left of the budget is expected to bring 0.0")
    assert found.reason.endswith("stop.expected is 1%")
    assert found.override == "stop.expected=null"


def test_a_search_with_much_left_or_a_recent_step_goes_on() -> None:
    long_left = folded(*BEST, *barren(0, 390), evaluations=40_000)
    assert reached(long_left, Stop(expected=1)) is None
    recent = folded(*BEST, *barren(0, 300), raced(1, 12.0), won(1, 12.0, 1.3, "k0"))
    assert reached(recent, Stop(expected=1)) is None


def test_predictions_alone_keep_a_search_going() -> None:
    held = predictions(20, told=5.0, brought=1.05)
    assert reached(folded(*BEST, *barren(0, 370), *held), Stop(expected=1)) is None
    failed = predictions(20, told=5.0, brought=0.9)
    assert reached(folded(*BEST, *barren(0, 370), *failed), Stop(expected=1)) is not None
