"""Islands some of whose roles answer in vain: who stands in, for how long, and who asks again."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from engine.config import OperatorMix
from engine.islands.rehearsal import Rehearsal
from engine.islands.rests import LONGEST, Rests
from engine.islands.setbacks import IN_A_ROW, UNUSABLE
from engine.store.events import (
    CycleFinished,
    CycleStarted,
    Designed,
    Drafted,
    Evaluated,
    Selected,
    from_row,
    to_row,
)
from engine.store.kinds.sessions import CampaignStarted, SessionStarted
from engine.store.replay import Replay
from engine.store.store import Stored
from scripts.scripted_model.answers import role_of
from tests.engine.islands.test_island import INFO, World, judged
from tests.engine.islands.test_setbacks import (
    BROKEN,
    NONSENSE,
    Messages,
    Minded,
    Rule,
    failing,
    minded,
    unlike,
)

MIX = {"experiments_per_cycle": 1, "repairs": 0}
FIRST_ASKED = [2, 3, 4, 9, 18, 35]
"""Cycles that ask a selector in vain: three in a row from the first choice between two kernels on,
then after rests of 4, 8 and 16 cycles."""


def vain(*roles: str, when: Callable[[], bool] = lambda: True) -> Rule:
    """Nonsense for these roles, and kernels of which no two are the same from the others."""
    sound = unlike()

    def rule(messages: Messages, number: int) -> str:
        spoilt = role_of(messages) in roles and when()
        return NONSENSE if spoilt else sound(messages, number)

    return rule


def asked(island: Minded, role: str) -> list[int]:
    """The cycles that asked the role."""
    return sorted({one.cycle for one in island.model.asked if one.role == role})


def test_a_selector_asked_in_vain_rests_ever_longer_and_the_tournament_decides() -> None:
    with minded(vain("selector"), mix=MIX, evaluations=40) as island:
        assert island.world.run() == "stopped"
        state = island.world.island.state()
    assert asked(island, "selector") == FIRST_ASKED
    assert asked(island, "designer") == list(range(1, 42))
    assert state.warning == ""
    told = state.resting["selector"]
    assert told.startswith("the selector was asked in vain in 3 cycles in a row (the last: prose")
    assert told.endswith(
        "); the tournament decides in its place, and the selector is asked again after 32 cycles, "
        "then ever more rarely"
    )
    selected = {one.cycle: one.selection for one in island.world.of(Selected)}
    assert {one.decided_by for one in selected.values()} == {"tournament"}
    assert "is not asked for some cycles" in selected[5].rationale
    assert [cycle for cycle, one in selected.items() if one.in_vain] == FIRST_ASKED


def test_a_selector_that_recovers_is_asked_as_usual_again() -> None:
    island: Minded
    rule = vain("selector", when=lambda: len(asked(island, "designer")) < 10)
    with minded(rule, mix=MIX, evaluations=24) as island:
        island.world.run()
        state = island.world.island.state()
    assert asked(island, "selector") == [2, 3, 4, 9, *range(18, 26)]
    assert state.resting == {}


def test_while_a_rest_is_over_one_cycle_of_many_in_flight_asks_again() -> None:
    with minded(vain("selector"), mix=MIX, evaluations=60, in_flight=6) as island:
        island.world.run()
    cycles = asked(island, "selector")
    gaps = [later - one - 1 for one, later in pairwise(cycles) if later > one + 1]
    assert len(cycles) - len(gaps) <= 6 + IN_A_ROW - 1  # those that began before the rest
    assert 2 <= len(gaps) <= 4
    assert all(gap >= 4 * 2**n for n, gap in enumerate(gaps))


@pytest.mark.parametrize("kept", [12, 22, 40, 49, 51])
def test_a_resumed_island_rests_and_asks_as_it_would_have(kept: int) -> None:
    with minded(vain("selector"), mix=MIX, evaluations=20) as whole:
        whole.world.run()
    cut = [from_row(event.kind, to_row(event)[-1]) for event in whole.world.log[:kept]]
    begun = max(one.cycle for one in cut if isinstance(one, CycleStarted))
    with minded(vain("selector"), mix=MIX, evaluations=5, earlier=cut) as resumed:
        resumed.world.run()
    first, *_, last = asked(resumed, "designer")
    assert first in (begun, begun + 1)
    assert asked(resumed, "selector") == [one for one in FIRST_ASKED if first <= one <= last]


def test_a_rehearsal_of_a_cycle_asks_whom_it_asked() -> None:
    """Also of cycles that began while another one asked whether a rest is over."""
    with minded(vain("selector"), mix=MIX, evaluations=30, in_flight=3) as island:
        island.world.run()
    rehearsal = rehearsed(island.world)
    cycles = sorted(one.cycle for one in island.world.of(Designed))
    assert len(cycles) > 20
    roles = {cycle: {one.role for one in rehearsal.cycle(cycle)} for cycle in cycles}
    assert [c for c in cycles if "selector" in roles[c]] == asked(island, "selector")
    assert all("selector" in roles[c] or "designer" in roles[c] for c in cycles)


def rehearsed(world: World) -> Rehearsal:
    """As from a store."""
    config = world.config
    first = CampaignStarted(config=config.model_dump(mode="json"), task_hash="", baseline_id="")
    whole = Replay(first)
    begun = SessionStarted(
        number=0, began_at=0.0, budgets={}, device="", device_class=INFO.device_class, devices=1
    )
    verdicts = [Evaluated(evaluation=judged(one.kernel_id)) for one in world.of(Drafted)]
    for seq, event in enumerate([begun, *verdicts, *world.log]):
        whole.apply(Stored(seq, float(seq), event))
    return Rehearsal(whole=whole, outcomes={}, config=config, task=world.task, device=INFO)


def test_a_repair_asked_in_vain_rests_and_failures_stay_as_they_are() -> None:
    mix = {**MIX, "repairs": 1}
    broken = failing((BROKEN, "line 3: no x"))
    with minded(vain("repair"), mix=mix, evaluations=12, world=broken) as island:
        island.world.run()
        [told] = island.world.island.state().resting.values()
    assert asked(island, "repair") == [1, 2, 3, 8]
    assert "failed kernels are not repaired" in told
    assert {one.origin for one in island.world.of(Drafted)[1:]} == {"experiment"}


def test_experiments_take_the_place_of_crossovers_that_answer_in_vain() -> None:
    mix = {**MIX, "experiment": 1, "crossover": 1}
    with minded(vain("crossover"), mix=mix, evaluations=40) as island:
        island.world.run()
        [told] = island.world.island.state().resting.values()
    assert "experiments take the place of crossovers" in told
    cycles = asked(island, "crossover")
    assert len(cycles) <= IN_A_ROW + 4
    assert all(later - one > 4 for one, later in pairwise(cycles[2:]))
    operators = {event.cycle: event.operator for event in island.world.of(CycleStarted)}
    assert [c for c, operator in operators.items() if operator == "crossover"][-1] == cycles[-1]


def test_an_island_of_crossovers_alone_has_nothing_to_do_instead() -> None:
    rests = Rests(OperatorMix(kind="llm", experiment=0, mutation=0), IN_A_ROW)
    for cycle in range(1, 9):
        assert rests.drawn(cycle, "crossover") == "crossover"
        assert rests.begin(cycle, "crossover") == frozenset()
        rests.take(finished(cycle, crossover="prose_only"))
    assert rests.warnings == {}


def test_other_troubles_count_as_they_did() -> None:
    """A selector asked in vain loses no cycle, and lost cycles end an island as before."""
    island: Minded
    rule = vain("selector", "designer", when=lambda: max(asked(island, "designer")) > 3)
    with minded(rule, mix=MIX) as island:
        ending = island.world.run()
    assert ending.startswith(f"{UNUSABLE} in 9 cycles in a row (designer: ")
    assert asked(island, "designer") == list(range(1, 13))
    assert asked(island, "selector") == [2, 3, 4, 5, 6, 7, 12]
    with minded(unlike(), mix=MIX, evaluations=9, earlier=island.world.log) as later:
        later.world.run()  # a later session begins as at first
    assert asked(later, "selector") == asked(later, "designer")


# --- the rule itself ------------------------------------------------------------------------------


def finished(cycle: int, **answers: str) -> CycleFinished:
    return CycleFinished(island=0, cycle=cycle, answers=answers)


def begun(rests: Rests, cycles: Sequence[int]) -> list[int]:
    """Those of the cycles, begun as experiments, that ask the selector."""
    return [cycle for cycle in cycles if "selector" not in rests.begin(cycle, "experiment")]


def test_a_reply_of_use_in_between_begins_the_row_anew() -> None:
    rests = Rests(OperatorMix(kind="llm"), IN_A_ROW)
    for cycle, said in enumerate(["bad", "bad", "", "bad", "bad"], 1):
        assert begun(rests, [cycle]) == [cycle]
        rests.take(finished(cycle, selector=said))
        rests.take(finished(100 + cycle))  # says nothing of it
    assert rests.warnings == {}


def test_a_rest_has_a_longest_length_and_other_cycles_do_not_prolong_it() -> None:
    rests = Rests(OperatorMix(kind="llm"), 1)
    begun(rests, [1, 2])
    rests.take(finished(1, selector="bad"))
    rests.take(finished(2, selector="bad"))
    gaps: list[int] = []
    last, cycle = 2, 3
    while len(gaps) < 7:
        if begun(rests, [cycle]):
            gaps.append(cycle - last - 1)
            last = cycle
            rests.take(finished(cycle, selector="bad"))
        cycle += 1
    assert gaps == [4, 8, 16, 32, 64, 64, 64] and LONGEST == 64


def test_a_cycle_that_had_nothing_to_ask_leaves_it_to_the_next() -> None:
    rests = Rests(OperatorMix(kind="llm"), 1)
    begun(rests, [1])
    rests.take(finished(1, selector="bad"))
    assert begun(rests, range(2, 9)) == [6]  # one asks, until it is known what came of it
    rests.take(finished(6))
    assert begun(rests, [9, 10]) == [9]
    rests.take(finished(9, selector=""))
    assert begun(rests, [11, 12]) == [11, 12]


def test_another_kind_of_cycle_does_not_ask_for_the_one_that_rests() -> None:
    rests = Rests(OperatorMix(kind="llm"), 1)
    begun(rests, [1])
    rests.take(finished(1, selector="bad"))
    for cycle in range(2, 9):
        rests.begin(cycle, "mutation")
    assert begun(rests, [9, 10]) == [9]
